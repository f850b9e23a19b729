import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Tool, ToolResult } from '../machine.ts';
import { parsePlist } from '../plist.ts';
import { type MinimalMachine, minimalMachine, resultText, toolCall } from '../testing/minimal-machine.ts';
import { createDefaults, readDefaults } from './defaults.ts';
import { plistText } from './plist-file.ts';

describe('defaults', () => {
  let machine: MinimalMachine;
  let tool: Tool;
  beforeEach(() => {
    machine = minimalMachine();
    tool = createDefaults(machine);
  });
  afterEach(() => machine.remove());
  const defaults = async (args: readonly string[], asRoot = true): Promise<ToolResult> =>
    tool(toolCall('defaults', args, { asRoot }));
  const domain = '/Library/Preferences/com.apple.loginwindow';

  test('writes silently, and reads existing values', async () => {
    const table: readonly [words: readonly string[], read: string][] = [
      [['m1'], 'm1'],
      [['-string', 'with blank'], 'with blank'],
      [['-int', '0'], '0'],
      [['-bool', 'true'], '1'],
      [['-bool', 'NO'], '0'],
      [['-float', '1.5'], '1.5'],
      [['-dict', 'seconds', '-int', '600', 'name', 'a'], '{\n    name = a;\n    seconds = 600;\n}'],
      [['-array', '10.0.0.0/8', 'plain'], '(\n    "10.0.0.0/8",\n    plain\n)'],
      [['-dict', 'a', '1', 'b c', '2'], '{\n    a = 1;\n    "b c" = 2;\n}'],
    ];
    for (const [words, read] of table) {
      assert.equal(resultText(await defaults(['write', domain, 'Key', ...words])), '0');
      assert.equal((await defaults(['read', domain, 'Key'])).stdout, `${read}\n`);
    }
  });

  test('exits with 1 for a missing domain or key', async () => {
    assert.equal(resultText(await defaults(['read', domain])), `1  / Domain ${domain} does not exist`);
    await defaults(['write', domain, 'autoLoginUser', 'm1']);
    assert.equal(
      resultText(await defaults(['read', domain, 'other'])),
      `1  / The domain/default pair of (${domain}, other) does not exist`,
    );
    assert.equal((await defaults(['delete', domain, 'other'])).code, 1);
  });

  test('deletes a key and leaves the others', async () => {
    await defaults(['write', domain, 'a', '1']);
    await defaults(['write', domain, 'b', '2']);
    assert.equal(resultText(await defaults(['delete', domain, 'a'])), '0');
    assert.deepEqual(readDefaults(machine, domain), { b: '2' });
  });

  test('a bare domain belongs to the calling user: with sudo, root', async () => {
    await defaults(['write', 'com.apple.network.local-network', 'Key', '-array', '10.0.0.0/8']);
    assert.ok(existsSync(machine.path('/var/root/Library/Preferences/com.apple.network.local-network.plist')));
    assert.equal((await defaults(['read', 'com.apple.network.local-network', 'Key'], false)).code, 1);
    await defaults(['write', '-g', 'Key', 'mine'], false);
    assert.ok(existsSync(machine.path('/Users/m1/Library/Preferences/.GlobalPreferences.plist')));
  });

  test('paths of the system are writable by root only', async () => {
    assert.equal(
      resultText(await defaults(['write', domain, 'a', 'b'], false)),
      `1 Could not write domain ${domain}; exiting`,
    );
    assert.equal((await defaults(['read', domain])).code, 1);
  });

  test('a path may start with the root of the simulated disk', async () => {
    await defaults(['write', machine.path(domain), 'autoLoginUser', 'm1']);
    assert.deepEqual(readDefaults(machine, domain), { autoLoginUser: 'm1' });
  });

  test('prints its usage without enough arguments', async () => {
    for (const args of [
      [],
      ['read'],
      ['write', domain, 'Key'],
      ['write', domain, 'Key', '-bool', 'perhaps'],
      ['eat', domain],
    ])
      assert.equal((await defaults(args)).code, 255, args.join(' '));
  });

  test('writes a standard property list', () => {
    const value = { '<key>': 'a & b > "c"', list: [1, true, { x: 1.5 }], none: [], empty: {} };
    assert.deepEqual(parsePlist(plistText(value)), value);
  });
});
