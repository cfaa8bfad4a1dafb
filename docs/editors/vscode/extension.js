// Start `sitegen lsp` for the first folder of the workspace, and connect VS Code with it.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const folder = workspace.workspaceFolders?.[0];
  if (!folder || !workspace.isTrusted) return; // the server reads the templates of the site
  const [command, ...args] = workspace.getConfiguration("sitegen").get("command");
  const options = { cwd: folder.uri.fsPath };
  client = new LanguageClient("sitegen", "sitegen", { command, args, options }, {
    documentSelector: ["markdown", "yaml", "python", "html", "bibtex"].map((language) => ({ scheme: "file", language })),
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{content,kernels,series,templates}/**") },
  });
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
