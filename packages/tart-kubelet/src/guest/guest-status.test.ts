import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { guestNames } from '@tartan/api';
import { readRunnerMarkers } from './guest-status.ts';

describe('marker files of a runner in its status share', { timeout: 60_000 }, () => {
  let status = '';
  beforeEach(() => {
    status = mkdtempSync(join(tmpdir(), 'markers-'));
  });
  afterEach(() => rmSync(status, { recursive: true, force: true }));

  test('are plain files, empty or with a time in them', async () => {
    assert.deepEqual(await readRunnerMarkers(status), { ready: 'missing', jobStarted: 'missing' });
    writeFileSync(join(status, guestNames.ready), '');
    assert.deepEqual(await readRunnerMarkers(status), { ready: 'present', jobStarted: 'missing' });
    writeFileSync(join(status, guestNames.jobStarted), '2026-06-01T12:00:00Z\n');
    assert.deepEqual(await readRunnerMarkers(status), { ready: 'present', jobStarted: 'present' });
  });

  test('hold the version of the runner, and ignore other content', async () => {
    const rows: readonly (readonly [string, string | undefined])[] = [
      ['2.335.0\n', '2.335.0'],
      ['2.335.0', '2.335.0'],
      ['2.335.0 is\u001b[2J new', undefined],
      ['2.335', undefined],
      ['999999999.1.1', undefined],
      ['v2.335.0', undefined],
    ];
    for (const [content, version] of rows) {
      writeFileSync(join(status, guestNames.ready), content);
      const { ready, version: read } = await readRunnerMarkers(status);
      assert.deepEqual([ready, read], ['present', version], content);
    }
  });

  const hostile: Readonly<Record<string, (path: string) => unknown>> = {
    'a folder': (path) => mkdirSync(path),
    'a FIFO without a writer': (path) => execFileSync('mkfifo', [path]),
    'a link to a file of the Mac': (path) => symlinkSync('/etc/passwd', path),
    'a link to nothing': (path) => symlinkSync('nothing', path),
    'a file of a terabyte': (path) => {
      writeFileSync(path, '');
      truncateSync(path, 2 ** 40);
    },
  };
  for (const [what, make] of Object.entries(hostile))
    test(`${what} is not a marker`, async () => {
      make(join(status, guestNames.ready));
      make(join(status, guestNames.jobStarted));
      assert.deepEqual(await readRunnerMarkers(status), { ready: 'unreadable', jobStarted: 'unreadable' });
    });

  test('of a share that is missing or not a folder are missing, without an error', async () => {
    rmSync(status, { recursive: true });
    assert.deepEqual(await readRunnerMarkers(status), { ready: 'missing', jobStarted: 'missing' });
    writeFileSync(status, '');
    assert.deepEqual(await readRunnerMarkers(status), { ready: 'unreadable', jobStarted: 'unreadable' });
  });
});
