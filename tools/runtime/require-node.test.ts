import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

/** Runs the check as if this were another Node. */
const underNode = (version: string): { exit: number | undefined; said: string } => {
  const seen: { exit: number | undefined; said: string } = { exit: undefined, said: '' };
  const process = {
    versions: { node: version },
    execPath: '/usr/bin/node',
    platform: 'linux',
    arch: 'riscv64',
    stderr: { write: (text: string) => (seen.said += text) },
    exit: (code: number) => (seen.exit = code),
  };
  runInNewContext(readFileSync(join(import.meta.dirname, 'require-node.cjs'), 'utf8'), { process });
  return seen;
};

for (const version of ['14.21.3', '18.20.0', '20.20.2', '22.23.3', '23.0.0']) {
  test(`Node ${version} prints one sentence with what to do`, () => {
    const { exit, said } = underNode(version);
    assert.equal(exit, 1);
    assert.equal(said.trimEnd().split('\n').length, 1);
    assert.match(said, new RegExp(`runs on Node ${version.replaceAll('.', '\\.')} \\(/usr/bin/node\\)`));
    assert.match(said, /npm ci.*linux-riscv64.*or install Node 24 or newer/);
  });
}

for (const version of ['24.0.0', '26.10.0']) {
  test(`Node ${version} runs the program`, () => {
    assert.deepEqual(underNode(version), { exit: undefined, said: '' });
  });
}
