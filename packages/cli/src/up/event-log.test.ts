import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { annotations } from '@tartan/api';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { queueJob } from '@tartan/sim-fleet';
import { createGitHub, type GitHubEvent } from '@tartan/sim-github';
import { eventLine, jobLine, logJobs, logLine, nodeLine } from './event-log.ts';
import { createStyledLog } from './live/up-view.ts';
import { jobIntervalMs, keepQueueing } from './queue-jobs.ts';

const plain = createStyledLog(() => {}, { colours: false });
type Node = Parameters<typeof nodeLine>[1];

const node = (status: string | undefined, agent = 'v0.1.0'): NonNullable<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mac-1', annotations: { [annotations.agentVersion]: agent } },
  status: { conditions: status === undefined ? [] : [{ type: 'Ready', status }] },
});

const aboutNodes: [string, Node, Node, string | undefined][] = [
  ['comes', undefined, node(undefined), 'joined: its Node was created'],
  ['comes and is Ready', undefined, node('True'), 'joined: its Node is Ready, with agent v0.1.0'],
  ['becomes Ready', node(undefined), node('True'), 'its Node is Ready, with agent v0.1.0'],
  ['stays Ready', node('True'), node('True'), undefined],
  ['is Ready with another agent', node('True'), node('True', 'v0.2.0'), 'its Node is Ready, with agent v0.2.0'],
  ['is no longer Ready', node('True'), node('Unknown'), 'its Node is no longer Ready'],
  ['is still not Ready', node('False'), node('Unknown'), undefined],
  ['goes', node('True'), undefined, 'its Node was deleted'],
];

for (const [what, before, now, line] of aboutNodes) {
  test(`a Node that ${what}: ${line ?? 'no line'}`, () =>
    assert.equal(nodeLine(before, now, plain), line === undefined ? undefined : logLine('mac-1', line)));
}

const event = (kind: string, count = 1) => ({
  apiVersion: 'v1' as const,
  kind: 'Event' as const,
  metadata: { name: 'e' },
  involvedObject: { kind, name: 'mac-1' },
  type: 'Normal',
  reason: 'Adopted',
  message: 'It holds the Mac x.',
  count,
});

test('an event about our kinds is logged once', () => {
  const machine = 'ScalewayAppleSiliconMachine';
  assert.equal(eventLine(event(machine), plain), `  ${'mac-1'.padEnd(27)}  Adopted  It holds the Mac x.`);
  assert.equal(eventLine(event(machine, 2), plain), undefined);
  assert.equal(eventLine(event('Pod'), plain), undefined);
});

test('server IDs are shortened', () => {
  assert.equal(logLine('11111111-2222-3333-4444-555555555555', 'x'), `  ${'11111111…'.padEnd(27)}  x`);
});

test('colors are used only when enabled', () => {
  const coloured = createStyledLog(() => {}, { colours: true });
  assert.equal(coloured.paint('good', 'x'), '\u001B[32mx\u001B[0m');
  assert.equal(plain.paint('good', 'x'), 'x');
});

/** A key of an RSA App takes seconds to generate on a busy machine, and no test here signs anything. */
const app = {
  privateKey: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
};

/** In steps, so that waiting code runs in between. */
const pass = async (clock: ManualClock, seconds: number): Promise<void> => {
  for (let at = 0; at < seconds; at += 1) {
    clock.advance(1_000);
    await setImmediate();
  }
};

describe('jobs at the simulated GitHub', () => {
  test('only the start and end of a job are logged', async (t) => {
    const github = createGitHub({ clock: manualClock(), app });
    t.after(github.stop);
    const job = queueJob(github);
    job.conclusion = 'success';
    const lines = (
      [
        ['job queued', undefined],
        ['job started', 'job build-1 started'],
        ['job finished', 'job build-1 finished: success'],
        ['job lost', 'job build-1 is lost: its runner stopped reporting'],
        ['runner online', undefined],
      ] as const
    ).map(([what, line]) => [what, line === undefined ? undefined : logLine('macos-runner-1', line)]);
    for (const [what, line] of lines) {
      const event = { at: 0, type: what, runner: 'macos-runner-1', job: job.id } as GitHubEvent;
      assert.equal(jobLine(event, github.jobs(), plain), line);
    }
  });

  test('earlier jobs are not logged', async (t) => {
    const clock = manualClock();
    const github = createGitHub({ clock, app });
    t.after(github.stop);
    const history: GitHubEvent[] = [{ at: 0, type: 'job started', runner: 'r', job: 1 }];
    const said: string[] = [];
    const over = new AbortController();
    const output = { ...plain, writeLine: (line = '') => void said.push(line) };
    const logging = logJobs({ history, jobs: github.jobs }, output, over.signal, clock);
    history.push({ at: 0, type: 'job finished', runner: 'r', job: 1 });
    await pass(clock, 1);
    over.abort();
    await logging;
    assert.deepEqual(said, [logLine('r', 'job 1 finished: unknown')]);
  });

  test('the job interval follows the pace within its bounds', async (t) => {
    assert.deepEqual([1, 0.1, 0.01, 0.001].map(jobIntervalMs), [120_000, 120_000, 15_000, 2_000]);
    const clock = manualClock();
    const github = createGitHub({ clock, app });
    t.after(github.stop);
    const over = new AbortController();
    const queueing = keepQueueing(github, 0.01, over.signal, clock);
    await pass(clock, 61);
    over.abort();
    await queueing;
    assert.deepEqual(
      github.jobs().map(({ name }) => name),
      ['build-1', 'unit-tests-2', 'ui-tests-3', 'archive-4', 'build-5'],
    );
  });
});
