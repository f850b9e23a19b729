import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { tartan } from './program.ts';

const run = async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const { signal } = new AbortController();
  const code = await tartan(args, { stdin, stdout, stderr, env: {}, signal });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, out, err };
};

describe('tartan', () => {
  test('--help lists the commands in groups and a first step', async () => {
    const { code, out } = await run('--help');
    assert.equal(code, 0);
    for (const heading of ['Try it on this machine:', 'Manage one Mac:', 'Operate a cluster:'])
      assert.ok(out.includes(`\n${heading}\n`), out);
    assert.match(out, /\nStart with: tartan up\./);
  });

  test('--version prints the version', async () => {
    const { code, out } = await run('--version');
    assert.equal(code, 0);
    assert.match(out, /^\d+\.\d+\.\d+\n$/);
  });

  const mistakes: readonly [args: string[], said: RegExp][] = [
    [['doctor'], /missing required argument 'host'\n\(see tartan doctor --help\)\n$/],
    [['doktor'], /Did you mean doctor\?\)\n\(see tartan --help\)\n$/],
    [['pods', 'unstik'], /Did you mean unstick\?\)\n\(see tartan pods --help\)\n$/],
    [['pods', 'unstick', 'all'], /too many arguments[^]*\(see tartan pods unstick --help\)\n$/],
    [['up', '--hosts', 'real'], /Allowed choices are simulated, played\.\n\(see tartan up --help\)\n$/],
    [['up', '--pool', '100'], /a whole number from 1 to 64\.\n\(see tartan up --help\)\n$/],
  ];
  for (const [args, said] of mistakes)
    test(`"${args.join(' ')}" is a usage error that points to the right help`, async () => {
      const { code, err } = await run(...args);
      assert.equal(code, 2);
      assert.match(err, said);
    });

  test('every command has examples and exit codes, or only one exit code', async () => {
    for (const command of [['prepare-host'], ['doctor'], ['pods', 'unstick']]) {
      const { out } = await run(...command, '--help');
      assert.match(out, /\nExamples:\n[^]*\nExit codes: 0 /, command.join(' '));
    }
  });
});
