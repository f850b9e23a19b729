import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { applyEdit, BuildError, go } from './go.ts';

/** A folder for the PATH with a script called `go`. */
const fakeGo = (t: TestContext, script: string): { cwd: string; env: NodeJS.ProcessEnv } => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-go-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'go'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'go'), 0o755);
  return { cwd: folder, env: { PATH: folder } };
};

test('without Go the error says what to install', async () => {
  await assert.rejects(go(['version'], { cwd: tmpdir(), env: { PATH: '/nonexistent' } }), (error: unknown) => {
    assert.ok(error instanceof BuildError);
    assert.match(error.message, /no "go" on the PATH.*https:\/\/go\.dev\/dl.*KUBEBUILDER_ASSETS/s);
    return true;
  });
});

test('a failed build shows the end of the output of Go', async (t) => {
  const run = fakeGo(t, 'i=0; while [ $i -lt 100 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 2');
  await assert.rejects(go(['build'], run), (error: unknown) => {
    assert.ok(error instanceof BuildError);
    assert.match(error.message, /go build failed in .*line 99$/s);
    assert.doesNotMatch(error.message, /line 9\n/);
    return true;
  });
});

const edit = { file: 'main.go', from: 'Port: port,', to: 'Host: "$&", Port: port,' };

test('a text is replaced literally', () => {
  assert.equal(applyEdit('a Port: port, b', edit), 'a Host: "$&", Port: port, b');
});

test('sources that contain the text never, or twice, are not built', () => {
  for (const text of ['a', 'Port: port, Port: port,'])
    assert.throws(() => applyEdit(text, edit), /main\.go has "Port: port," [02] times/);
});
