import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { argumentsHash, summaryOf } from '@tartan/host';
import { hashOf, launchedAgent } from './launched.ts';
import { stampSummary } from './stamps.ts';

describe('what the played agent reads on a disk', () => {
  const root = mkdtempSync(join(tmpdir(), 'tartan-agent-disk-'));
  const path = (ofTheMac: string): string => join(root, ofTheMac);
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(path(file)), { recursive: true });
    writeFileSync(path(file), text);
  };
  beforeEach(() => rmSync(root, { recursive: true, force: true }));
  after(() => rmSync(root, { recursive: true, force: true }));

  const flags = ['--node-name=mac-1', '--kubeconfig=/etc/tart-kubelet/kubeconfig', '--node-labels=a=b,c='];
  const running = (words: readonly string[]) => ({
    path,
    job: () => ({ state: 'running', pid: 7, runs: 1, arguments: ['/node', '/tart-kubelet.mjs', ...words] }),
  });

  test('its summary of stamps is the one that hosts are compared by', () => {
    assert.equal(stampSummary({ path }), summaryOf({}));
    put('/var/db/tartan/steps/tart', 'b\n');
    put('/var/db/tartan/steps/agent-job', 'a\n');
    put('/var/db/tartan/steps/.power', 'half a st');
    assert.equal(stampSummary({ path }), summaryOf({ tart: 'b', 'agent-job': 'a' }));
  });

  test('a process whose release expects other arguments is no agent', () => {
    assert.equal(hashOf(flags), argumentsHash(flags));
    put('/usr/local/lib/tart-kubelet/current/tart-kubelet.mjs', '// tart-kubelet 1.2.3\n');
    put('/usr/local/lib/tart-kubelet/current/arguments', `${hashOf(flags)}\n`);
    const launched = launchedAgent(running(flags));
    assert.deepEqual(launched?.traits, { version: '1.2.3', neverReady: false, exits: false });
    assert.deepEqual(launched?.flags.labels, { a: 'b', c: '' });
    assert.equal(launchedAgent(running([...flags, '--max-pods=3'])), undefined);
  });

  test('nor is one that was told neither its name nor where its credentials are', () => {
    assert.equal(launchedAgent(running(['--node-name=mac-1'])), undefined);
    assert.equal(launchedAgent(running(['--kubeconfig=/x'])), undefined);
  });
});
