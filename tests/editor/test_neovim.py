"""The language server in Neovim without a screen: it shows a mistake, offers words, and jumps to a definition."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POST = "content/posts/in-a-file.md"
SCRIPT = """\
local function wait(what, done)
  if not vim.wait(60000, done, 50) then print("TIMEOUT " .. what) vim.cmd("cquit") end
end
vim.cmd("edit content/posts/in-a-file.md")
local client = vim.lsp.start_client({ name = "sitegen", cmd = COMMAND, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
wait("the server", function() local c = vim.lsp.get_client_by_id(client) return c and c.initialized end)
vim.api.nvim_buf_set_lines(0, -1, -1, false, { "", "{term}`wrap`", "", "```{kernel} scale/tile" })
wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
local codes, last = {}, vim.api.nvim_buf_line_count(0)
for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(codes, one.code) end
vim.api.nvim_win_set_cursor(0, { last, 16 })
local function ask(method)
  local place = vim.lsp.util.make_position_params(0, "utf-16")
  return vim.lsp.buf_request_sync(0, method, place, 60000)[client].result
end
local words = {}
for _, item in ipairs(ask("textDocument/completion").items) do table.insert(words, item.label) end
local uri = ask("textDocument/definition").uri
print(vim.fn.json_encode({ codes = codes, words = words, file = vim.uri_to_fname(uri) }))
vim.cmd("quitall!")
"""


@pytest.mark.soak
def test_neovim_shows_completes_and_jumps(tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(ROOT / "tests/sites/every_form", site)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    command = ", ".join(f'"{word}"' for word in (sys.executable, "-m", "sitegen", "lsp"))
    (tmp_path / "edit.lua").write_text(SCRIPT.replace("COMMAND", f"{{ {command} }}"), encoding="utf-8")
    ran = subprocess.run(
        ["nvim", "--headless", "--clean", "-c", f"luafile {tmp_path / 'edit.lua'}"],
        cwd=site,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    found = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert "SG212" in found["codes"]
    assert "scale/tile" in found["words"]
    assert found["file"] == str(site / "kernels/scale/tile.py")
