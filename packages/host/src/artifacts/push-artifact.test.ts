import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { CommandOutcome, HostConnection, RemoteCommand } from '../connection/connection.ts';
import { connectToMac, fleetKey } from '../testing/connect-to-mac.ts';
import { grantRoot } from '../testing/fresh-macs.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { type Artifact, describeArtifact } from './artifact.ts';
import { pushArtifact, pushDeadline } from './push-artifact.ts';

/** Over real SSH, by the real script. */
describe('pushing an artifact to a Mac', () => {
  const content = Buffer.alloc(600_000, 'an artifact in many packets ');
  const { publicKey, privateKey } = fleetKey();
  let folder: string;
  let mac: Mac;
  let artifact: Artifact;
  let connection: HostConnection;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-push-'));
    mac = await startMac({ folder: join(folder, 'mac'), authorizedKeys: [publicKey] });
    grantRoot(mac);
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    mac.faults.diskFree = undefined;
    mac.faults.disconnectAtByte = undefined;
    rmSync(store(), { recursive: true, force: true });
    writeFileSync(join(folder, 'tart'), content);
    artifact = await describeArtifact(join(folder, 'tart'), 'tart');
    connection = await connectToMac(mac, privateKey);
  });
  afterEach(() => connection.close());

  const store = (): string => mac.path('/var/db/tartan/artifacts');
  const kept = (): string => join(store(), artifact.sha256);
  /** All files in the store, including hidden ones. */
  const inStore = (): string[] => readdirSync(store());
  /** A connection that counts what it sends. */
  const counted = () => {
    const sent = { commands: 0, bytes: 0 };
    const run = ({ stdin, ...command }: RemoteCommand, signal?: AbortSignal) => {
      sent.commands++;
      const counting = () => {
        const input = stdin?.();
        return (input ?? assert.fail()).on('data', (piece: Buffer) => (sent.bytes += piece.length));
      };
      return connection.run({ ...command, ...(stdin && { stdin: counting }) }, signal);
    };
    return { sent, connection: { ...connection, run } };
  };
  /** A partial file of a dead pusher. */
  const leaveBehind = (owner: number): string => {
    const partial = join(store(), `.partial.${artifact.sha256}.${owner}`);
    mkdirSync(store(), { recursive: true });
    writeFileSync(partial, 'half');
    return partial;
  };
  const deadProcess = async (): Promise<number> => {
    const child = spawn('true');
    await once(child, 'close');
    return child.pid ?? assert.fail();
  };

  test('the file arrives completely, readable by all, and nothing else is left', async () => {
    assert.deepEqual(await pushArtifact(connection, artifact), { kind: 'pushed' });
    assert(readFileSync(kept()).equals(content));
    assert.equal(statSync(kept()).mode & 0o777, 0o644);
    assert.deepEqual(inStore(), [artifact.sha256]);
  });

  test('a file that exists on the host is not sent again', async () => {
    await pushArtifact(connection, artifact);
    const { ino } = statSync(kept());
    const { sent, connection: counting } = counted();
    assert.deepEqual(await pushArtifact(counting, artifact), { kind: 'already there' });
    assert.deepEqual(sent, { commands: 1, bytes: 0 });
    assert.equal(statSync(kept()).ino, ino);
  });

  test('a damaged file on the host is replaced by a new file', async () => {
    for (const damaged of [content.subarray(1), Buffer.alloc(content.length, 'damaged')]) {
      mkdirSync(store(), { recursive: true });
      writeFileSync(kept(), damaged);
      const { ino } = statSync(kept());
      assert.deepEqual(await pushArtifact(connection, artifact), { kind: 'pushed' });
      assert(readFileSync(kept()).equals(content));
      assert.notEqual(statSync(kept()).ino, ino);
    }
  });

  test('a disk without space is reported before a byte is sent (INC-40)', async () => {
    mac.faults.diskFree = 900_000;
    const { sent, connection: counting } = counted();
    const outcome = await pushArtifact(counting, artifact);
    assert(outcome.kind === 'failed', JSON.stringify(outcome));
    assert.match(outcome.problem, /has 1 MB free and needs 1001 MB\. Free 1000 MB/);
    assert.deepEqual(sent, { commands: 1, bytes: 0 });
    assert.deepEqual(inStore(), []);
  });

  test('a disk that fills up during the push keeps its files', async () => {
    mkdirSync(store(), { recursive: true });
    writeFileSync(join(store(), 'another'), 'artifact');
    const fills: HostConnection = {
      ...connection,
      run: (command, signal) => {
        if (command.stdin) mac.faults.diskFree = 100_000;
        return connection.run(command, signal);
      },
    };
    const outcome = await pushArtifact(fills, artifact);
    assert(outcome.kind === 'failed', JSON.stringify(outcome));
    assert.match(outcome.problem, /has 1 MB free and needs 1001 MB/);
    assert.deepEqual(inStore(), ['another']);
  });

  test('an interrupted connection leaves nothing, and the next push succeeds', async () => {
    mac.faults.disconnectAtByte = 300_000;
    const outcome = await pushArtifact(connection, artifact);
    assert.equal(outcome.kind, 'connection lost');
    assert(!existsSync(kept()));
    mac.faults.disconnectAtByte = undefined;
    connection = await connectToMac(mac, privateKey);
    assert.deepEqual(await pushArtifact(connection, artifact), { kind: 'pushed' });
    while (inStore().length > 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(inStore(), [artifact.sha256], 'also when the host noticed the cut late');
  });

  test('files of dead pushes are deleted, those of running ones are kept', async () => {
    const dead = leaveBehind(await deadProcess());
    const old = leaveBehind(process.pid);
    const yesterday = systemClock.now() / 1000 - 25 * 3600;
    utimesSync(old, yesterday, yesterday);
    const alive = leaveBehind(process.ppid);
    await pushArtifact(connection, artifact);
    assert.deepEqual([dead, old, alive].map(existsSync), [false, false, true]);
  });

  test('two concurrent pushes of the same file do not disturb each other', async () => {
    const outcomes = await Promise.all([pushArtifact(connection, artifact), pushArtifact(connection, artifact)]);
    for (const outcome of outcomes) assert.match(outcome.kind, /^(pushed|already there)$/);
    assert(readFileSync(kept()).equals(content));
    assert.deepEqual(inStore(), [artifact.sha256]);
  });

  test('a byte changed in transit is detected by the host', async () => {
    const flips: HostConnection = {
      ...connection,
      run: ({ stdin, ...command }, signal) => {
        const flipped = () => (stdin?.() ?? assert.fail()).on('data', (piece: Buffer) => piece.fill('z', 0, 1));
        return connection.run({ ...command, ...(stdin && { stdin: flipped }) }, signal);
      },
    };
    const outcome = await pushArtifact(flips, artifact);
    assert(outcome.kind === 'failed', JSON.stringify(outcome));
    assert.match(outcome.problem, /^tart was not pushed: it arrived broken.*Try again/);
    assert.deepEqual(inStore(), []);
  });

  test('a local file that changed is reported as a local failure', async () => {
    writeFileSync(artifact.file, Buffer.alloc(content.length, 'other'));
    const sameSize = await pushArtifact(connection, artifact);
    assert(sameSize.kind === 'failed', JSON.stringify(sameSize));
    assert.match(sameSize.problem, /could not be read here: .* changed on our side\. Prepare/);
    writeFileSync(artifact.file, 'shorter');
    const shorter = await pushArtifact(connection, artifact);
    assert(shorter.kind === 'failed', JSON.stringify(shorter));
    assert.match(shorter.problem, /could not be read here: .* changed on our side/);
    assert(!existsSync(kept()));
  });

  test('an abort ends the push', async () => {
    const controller = new AbortController();
    const aborts: HostConnection = {
      ...connection,
      run: (command, signal) => {
        if (command.stdin) controller.abort();
        return connection.run(command, signal);
      },
    };
    const outcome = await pushArtifact(aborts, artifact, { signal: controller.signal });
    assert.equal(outcome.kind, 'aborted');
  });

  test('a push without a result line fails', async () => {
    const mute: HostConnection = {
      ...connection,
      run: async ({ stdin }) => {
        assert.equal(stdin, undefined, 'nothing is sent');
        return { kind: 'done', stdout: 'Welcome!\n', stderr: '' };
      },
    };
    const outcome = await pushArtifact(mute, artifact);
    assert(outcome.kind === 'failed');
    assert.match(outcome.problem, /the host refused it \(exit code 0\)/);
  });
});

test('a push may take two minutes plus a second for each megabyte', () => {
  assert.equal(pushDeadline(0), 120_000);
  assert.equal(pushDeadline(96_000_000), 216_000);
});

const artifact = { name: 'tart 2.32.1', sha256: 'abc', size: 1, file: '/tart' };
const output = { stdout: '', stderr: '' };

test('the error of a failed push says what happened, why, and what to do', async () => {
  const table: [CommandOutcome, RegExp][] = [
    [
      { kind: 'command failed', code: 1, stdout: 'result\tno-space\t400000000\t1100000000\n', stderr: '' },
      /has 400 MB free and needs 1100 MB. Free 700 MB/,
    ],
    [{ kind: 'command failed', code: 1, stdout: '', stderr: 'a\nsudo: no\n' }, /exit code 1\): sudo: no\. /],
    [{ kind: 'command failed', signal: 'KILL', ...output }, /\(signal KILL\)\. /],
    [{ kind: 'input failed', cause: 'gone', ...output }, /read here: gone. Prepare/],
  ];
  for (const [answer, text] of table) {
    const connection = macConnection({ run: assert.fail, hostKey: () => '' }, { answer: () => answer });
    const outcome = await pushArtifact(connection, artifact);
    assert(outcome.kind === 'failed', JSON.stringify(outcome));
    assert.match(outcome.problem, text);
    assert.match(outcome.problem, /^tart 2\.32\.1 was not pushed: .*[^.]\.$/);
  }
});
