import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runnerBusyCondition } from '@tartan/api';
import { KubeError, type Transport } from '@tartan/kube';
import { createHarness, type Harness } from './testing/harness.ts';

type Send = Transport['send'];

/**
 * Counts all calls of a process to Kubernetes and GitHub, without watches and lists of caches. `crash`: the call of that number is
 * executed, and the process gets neither its response nor any other. `lost`: only this response is lost. `refused`: only that call does not
 * arrive.
 */
const faultyCalls = (at: number, fault: 'crash' | 'lost' | 'refused' | 'none') => {
  let calls = 0;
  let isDead = false;
  const names: string[] = [];
  const through = async <Answer>(name: string, call: () => Promise<Answer>, cut: () => Error): Promise<Answer> => {
    if (isDead) throw cut();
    calls += 1;
    names.push(name);
    if (calls !== at || fault === 'none') return call();
    if (fault === 'refused') throw cut();
    if (fault === 'crash') isDead = true;
    await call();
    throw cut();
  };
  return {
    names,
    get isDead() {
      return isDead;
    },
    between:
      (send: Send): Send =>
      (request) => {
        const cut = (): Error => new KubeError('unreachable', 'the connection was cut');
        if (isDead) return Promise.reject(cut());
        const [path = '', query = ''] = request.path.split('?');
        if (request.method === 'GET' && /watch=|limit=/.test(query) && !query.includes('labelSelector'))
          return send(request);
        return through(`${request.method} ${path}`, () => send(request), cut);
      },
    onFetch:
      (ask: typeof fetch): typeof fetch =>
      (input, init) =>
        through(
          `GitHub ${init?.method ?? 'GET'} ${input instanceof Request ? input.url : String(input)}`,
          () => ask(input, init),
          () => new TypeError('fetch failed'),
        ),
  };
};

type Step = (seconds: number, by: number) => Promise<void>;
interface Part {
  readonly what: string;
  /** Restores the initial state at its end. */
  readonly play: (harness: Harness, step: Step) => Promise<void>;
}

const parts: readonly Part[] = [
  {
    what: 'a pool is made, and deleted',
    play: async (harness, step) => {
      await harness.addPool(1, 'other');
      await step(50, 10);
      await harness.deletePool('other');
      await step(70, 10);
      assert.equal(await harness.pool('other'), undefined);
    },
  },
  {
    what: 'a job is done, and its runner replaced',
    play: async (harness, step) => {
      const reaped = (await harness.pool())?.status?.reaped ?? 0;
      const job = harness.queueJob();
      await step(90, 10);
      assert.equal(job.conclusion, 'success');
      assert.equal((await harness.pool())?.status?.reaped, reaped + 1, 'each is counted once');
    },
  },
  {
    what: 'the pool shrinks by a runner that does not notice, and grows again',
    play: async (harness, step) => {
      harness.settings.notices = false;
      await harness.setSpec({ replicas: 0 });
      await step(240, 40);
      assert.deepEqual(await harness.pods(), []);
      harness.settings.notices = true;
      await harness.setSpec({ replicas: 1 });
      await step(50, 10);
    },
  },
];

/** Asserts that no runner is duplicated or lost, and that no Secret, ServiceAccount or registration is left over. */
const isWhole = async (harness: Harness): Promise<void> => {
  const pods = await harness.pods();
  const busy = pods.map(({ status }) => status?.conditions?.find(({ type }) => type === runnerBusyCondition)?.status);
  assert.deepEqual(busy, ['False'], 'one Pod, and it waits for a job');
  const names = pods.map(({ metadata }) => metadata.name);
  assert.deepEqual(
    (await harness.secrets()).map(({ metadata }) => metadata.name),
    names,
  );
  assert.deepEqual(
    (await harness.accounts()).map(({ metadata }) => metadata.name),
    names,
  );
  assert.deepEqual(
    harness.github.runners().map(({ name }) => name),
    names,
  );
  assert.deepEqual([harness.killed, harness.github.lostJobs()], [[], []]);
};

/** Plays a part while a call fails. Returns all calls. */
const playWith = async (harness: Harness, part: Part, at: number, fault: 'crash' | 'lost' | 'none') => {
  const calls = faultyCalls(at, fault);
  let process = await harness.start(calls.between, calls.onFetch);
  let isReplaced = false;
  await part.play(harness, async (seconds, by) => {
    for (let passed = 0; passed < seconds; passed += by) {
      if (calls.isDead && !isReplaced) {
        isReplaced = true;
        await process.stop();
        process = await harness.start();
      }
      await harness.advance(by, by);
    }
  });
  await isWhole(harness);
  await process.stop();
  return calls.names;
};

describe('a fault in any API call', () => {
  let harness: Harness;
  before(async () => {
    harness = await createHarness({ macs: 1, slots: 4 });
    await harness.addSecret();
    harness.settings.jobMs = 20_000;
    await harness.addPool(1);
    const process = await harness.start();
    await harness.advance(40, 10);
    await process.stop();
  });
  after(() => harness.end());

  for (const part of parts)
    for (const fault of ['crash', 'lost'] as const)
      test(`${part.what}: ${fault}`, async () => {
        const calls = await playWith(harness, part, 0, 'none');
        for (const [index, call] of calls.entries()) {
          // A crash after a read leaves the same state as a crash after the write before it.
          if (call.includes('GET ')) continue;
          try {
            await playWith(harness, part, index + 1, fault);
          } catch (error) {
            throw new Error(`call ${index + 1}, ${call}`, { cause: error });
          }
        }
      });
});
