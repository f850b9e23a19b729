import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, createLogger, KubeError, type Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKnownPods } from './known-pods.ts';
import { createPublisher } from './publish.ts';
import type { Pod, PodStatus } from './snapshot.ts';
import { examplePod } from './testing/example.ts';

const waiting = (reason: string): PodStatus => ({
  phase: 'Pending',
  containerStatuses: [
    { name: 'runner', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason } } },
  ],
});
const running: PodStatus = { phase: 'Running' };

/** A server with one Pod, whose answers to a write the test may hold back or replace. */
const stage = () => {
  const clock = manualClock();
  const known = createKnownPods();
  let version = 7;
  let live = examplePod();
  known.watched(live);
  const writes: string[] = [];
  let isLost = false;
  let answer = async (): Promise<void> => {};
  const client = {
    get: async () => {
      if (isLost) throw new KubeError('forbidden', 'no relationship found between node and this object');
      return structuredClone(live);
    },
    list: async () => ({ items: isLost ? [] : [structuredClone(live)], resourceVersion: String(version) }),
    patch: async (...[, , { body }]: Parameters<Client['patch']>) => {
      await answer();
      const { metadata, status } = body as { metadata: { resourceVersion: string }; status: PodStatus };
      if (metadata.resourceVersion !== live.metadata.resourceVersion) throw new KubeError('conflict', 'it has changed');
      live = structuredClone({ ...live, status: { ...live.status, ...status } });
      version += 1;
      live.metadata.resourceVersion = String(version);
      const reason = status.containerStatuses?.[0]?.state?.waiting?.reason;
      writes.push(reason ?? status.phase ?? '');
      return structuredClone(live);
    },
  } as unknown as Client;
  const log = createLogger({ write: () => {}, clock, level: 'error' });
  const publisher = createPublisher({ client, nodeName: 'mac-1', known, clock, log });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    known,
    publisher,
    writes,
    turns,
    server: () => live,
    /** Somebody else writes to the Pod. */
    foreignWrite: (change: (pod: Live<Pod>) => void): void => {
      live = structuredClone(live);
      change(live);
      version += 1;
      live.metadata.resourceVersion = String(version);
    },
    /** It is gone, and the server says of it what it says to a Node. */
    losing: (): void => {
      isLost = true;
    },
    answering: (next: () => Promise<void>): void => {
      answer = next;
    },
  };
};
const { signal } = new AbortController();

describe('telling the server what a Pod is like', () => {
  it('writes one at a time, and of what came meanwhile only the last', async () => {
    const { answering, publisher, turns, writes } = stage();
    const first = Promise.withResolvers<void>();
    answering(() => first.promise);
    publisher.want('uid-1', () => waiting('A'));
    await turns();
    publisher.want('uid-1', () => waiting('B'));
    publisher.want('uid-1', () => waiting('C'));
    await turns();
    assert.deepEqual(writes, []);
    first.resolve();
    await turns();
    assert.deepEqual(writes, ['A', 'C']);
  });

  it('goes back to what the server had, if that is wanted before the write of something else has its answer', async () => {
    const { answering, publisher, server, turns } = stage();
    await publisher.write('uid-1', () => waiting('A'), signal);
    const late = Promise.withResolvers<void>();
    answering(() => late.promise);
    publisher.want('uid-1', () => waiting('B'));
    await turns();
    publisher.want('uid-1', () => waiting('A'));
    late.resolve();
    await turns();
    assert.equal(server().status?.containerStatuses?.[0]?.state?.waiting?.reason, 'A');
  });

  it('asks for the Pod anew when somebody else wrote to it, and keeps what that was (G6)', async () => {
    const { foreignWrite, publisher, server, writes } = stage();
    foreignWrite((pod) => {
      pod.metadata.labels = { of: 'others' };
    });
    const seen: unknown[] = [];
    const status = (pod: Live<Pod>): PodStatus => {
      seen.push(pod.metadata.labels);
      return running;
    };
    assert.equal(await publisher.write('uid-1', status, signal), 'written');
    assert.deepEqual(writes, ['Running']);
    assert.deepEqual(server().metadata.labels, { of: 'others' });
    assert.deepEqual(seen, [undefined, { of: 'others' }]);
  });

  it('tells of percentages no more than every two seconds, and of anything else at once', async () => {
    const { clock, publisher, turns, writes } = stage();
    for (const percent of [0, 1, 2]) {
      publisher.want('uid-1', () => waiting(`Pulling ${percent} %`));
      await turns();
    }
    assert.deepEqual(writes, ['Pulling 0 %']);
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['Pulling 0 %', 'Pulling 2 %']);
    publisher.want('uid-1', () => waiting('Pulling 3 %'));
    await turns();
    publisher.want('uid-1', () => waiting('Cloning'));
    await turns();
    assert.deepEqual(writes, ['Pulling 0 %', 'Pulling 2 %', 'Cloning']);
  });

  it('tells of the steps of a start only where one lasts, and of what keeps it from starting at once', async () => {
    const { clock, publisher, turns, writes } = stage();
    for (const step of ['ContainerCreating', 'Cloning', 'Booting']) {
      publisher.want('uid-1', () => waiting(step));
      await turns();
    }
    assert.deepEqual(writes, ['ContainerCreating']);
    clock.advance(250);
    await turns();
    publisher.want('uid-1', () => waiting('WaitingForIP'));
    await turns();
    assert.deepEqual(writes, ['ContainerCreating', 'Booting']);
    publisher.want('uid-1', () => waiting('TartCreateFailed'));
    await turns();
    assert.deepEqual(writes, ['ContainerCreating', 'Booting', 'TartCreateFailed']);
  });

  it('tries again what could not be written, until another status comes', async () => {
    const { answering, clock, publisher, turns, writes } = stage();
    answering(async () => {
      throw new KubeError('unreachable', 'no answer');
    });
    publisher.want('uid-1', () => waiting('A'));
    await turns();
    answering(async () => {});
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['A']);
  });

  it('says that it is gone or refused, and rejects when nobody answers', async () => {
    for (const [reason, outcome] of [
      ['notFound', 'gone'],
      ['invalid', 'refused'],
      ['badRequest', 'refused'],
    ] as const) {
      const { answering, publisher } = stage();
      answering(async () => {
        throw new KubeError(reason, 'no');
      });
      assert.equal(await publisher.write('uid-1', () => running, signal), outcome);
    }
    const { answering, publisher } = stage();
    answering(async () => {
      throw new KubeError('timeout', 'no answer');
    });
    await assert.rejects(
      publisher.write('uid-1', () => running, signal),
      /no answer/,
    );
  });

  it('a right that is missing may come back: it is told then, and nobody takes it for refused', async () => {
    const { answering, clock, publisher, turns, writes } = stage();
    answering(async () => {
      throw new KubeError('forbidden', 'this Node may not');
    });
    await assert.rejects(
      publisher.write('uid-1', () => running, signal),
      /may not/,
    );
    publisher.want('uid-1', () => waiting('A'));
    await turns();
    answering(async () => {});
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['A']);
  });

  it('says that it is gone when a Pod that somebody wrote to is gone, although the server will not speak of it', async () => {
    const { foreignWrite, losing, publisher } = stage();
    foreignWrite(() => {});
    losing();
    assert.equal(await publisher.write('uid-1', () => running, signal), 'gone');
  });

  it('a status that must be known now does not wait for the pause of another', async () => {
    const { answering, publisher, turns, writes } = stage();
    answering(async () => {
      throw new KubeError('unreachable', 'no answer');
    });
    publisher.want('uid-1', () => waiting('A'));
    await turns();
    answering(async () => {});
    assert.equal(await publisher.write('uid-1', () => running, signal), 'written');
    assert.deepEqual(writes, ['Running']);
  });
});
