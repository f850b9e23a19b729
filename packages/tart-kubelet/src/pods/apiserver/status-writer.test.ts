import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, createLogger, KubeError, type Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Pod, PodStatus } from '../snapshot.ts';
import { examplePod } from '../testing/example.ts';
import { createPodCache } from './pod-cache.ts';
import { createStatusWriter } from './status-writer.ts';

const waiting = (reason: string): PodStatus => ({
  phase: 'Pending',
  containerStatuses: [
    { name: 'runner', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason } } },
  ],
});
const running: PodStatus = { phase: 'Running' };

/** A server with one Pod. The test may delay or replace its responses to writes. */
const harness = () => {
  const clock = manualClock();
  const podCache = createPodCache();
  let version = 7;
  let live = examplePod();
  podCache.applyWatch(live);
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
  const writer = createStatusWriter({ client, nodeName: 'mac-1', clock, log }, podCache, 'uid-1');
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    known: podCache,
    writer,
    writes,
    turns,
    server: () => live,
    /** Another client writes to the Pod. */
    foreignWrite: (change: (pod: Live<Pod>) => void): void => {
      live = structuredClone(live);
      change(live);
      version += 1;
      live.metadata.resourceVersion = String(version);
    },
    /** The Pod is gone, and the server responds as it does to a Node. */
    losing: (): void => {
      isLost = true;
    },
    answering: (next: () => Promise<void>): void => {
      answer = next;
    },
  };
};
const { signal } = new AbortController();

describe('the status writer', () => {
  it('writes one status at a time and skips intermediate ones', async () => {
    const { answering, writer, turns, writes } = harness();
    const first = Promise.withResolvers<void>();
    answering(() => first.promise);
    writer.set(() => waiting('A'));
    await turns();
    writer.set(() => waiting('B'));
    writer.set(() => waiting('C'));
    await turns();
    assert.deepEqual(writes, []);
    first.resolve();
    await turns();
    assert.deepEqual(writes, ['A', 'C']);
  });

  it('writes the previous status again if it is set while another write is pending', async () => {
    const { answering, writer, server, turns } = harness();
    await writer.writeNow(() => waiting('A'), signal);
    const late = Promise.withResolvers<void>();
    answering(() => late.promise);
    writer.set(() => waiting('B'));
    await turns();
    writer.set(() => waiting('A'));
    late.resolve();
    await turns();
    assert.equal(server().status?.containerStatuses?.[0]?.state?.waiting?.reason, 'A');
  });

  it('reads the Pod again after a conflict and keeps the changes of others (INC-18)', async () => {
    const { foreignWrite, writer, server, writes } = harness();
    foreignWrite((pod) => {
      pod.metadata.labels = { of: 'others' };
    });
    const seen: unknown[] = [];
    const status = (pod: Live<Pod>): PodStatus => {
      seen.push(pod.metadata.labels);
      return running;
    };
    assert.equal(await writer.writeNow(status, signal), 'written');
    assert.deepEqual(writes, ['Running']);
    assert.deepEqual(server().metadata.labels, { of: 'others' });
    assert.deepEqual(seen, [undefined, { of: 'others' }]);
  });

  it('writes pull progress at most every two seconds, and anything else at once', async () => {
    const { clock, writer, turns, writes } = harness();
    for (const percent of [0, 1, 2]) {
      writer.set(() => waiting(`Pulling ${percent} %`));
      await turns();
    }
    assert.deepEqual(writes, ['Pulling 0 %']);
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['Pulling 0 %', 'Pulling 2 %']);
    writer.set(() => waiting('Pulling 3 %'));
    await turns();
    writer.set(() => waiting('Cloning'));
    await turns();
    assert.deepEqual(writes, ['Pulling 0 %', 'Pulling 2 %', 'Cloning']);
  });

  it('skips short start steps, and writes a blocking reason at once', async () => {
    const { clock, writer, turns, writes } = harness();
    for (const step of ['ContainerCreating', 'Cloning', 'Booting']) {
      writer.set(() => waiting(step));
      await turns();
    }
    assert.deepEqual(writes, ['ContainerCreating']);
    clock.advance(250);
    await turns();
    writer.set(() => waiting('WaitingForIP'));
    await turns();
    assert.deepEqual(writes, ['ContainerCreating', 'Booting']);
    writer.set(() => waiting('TartCreateFailed'));
    await turns();
    assert.deepEqual(writes, ['ContainerCreating', 'Booting', 'TartCreateFailed']);
  });

  it('retries a failed write until a newer status is set', async () => {
    const { answering, clock, writer, turns, writes } = harness();
    answering(async () => {
      throw new KubeError('unreachable', 'no answer');
    });
    writer.set(() => waiting('A'));
    await turns();
    answering(async () => {});
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['A']);
  });

  it('returns gone or refused, and rejects when the API server does not answer', async () => {
    for (const [reason, outcome] of [
      ['notFound', 'gone'],
      ['invalid', 'refused'],
      ['badRequest', 'refused'],
    ] as const) {
      const { answering, writer } = harness();
      answering(async () => {
        throw new KubeError(reason, 'no');
      });
      assert.equal(await writer.writeNow(() => running, signal), outcome);
    }
    const { answering, writer } = harness();
    answering(async () => {
      throw new KubeError('timeout', 'no answer');
    });
    await assert.rejects(
      writer.writeNow(() => running, signal),
      /no answer/,
    );
  });

  it('retries after forbidden, and does not treat it as refused', async () => {
    const { answering, clock, writer, turns, writes } = harness();
    answering(async () => {
      throw new KubeError('forbidden', 'this Node may not');
    });
    await assert.rejects(
      writer.writeNow(() => running, signal),
      /may not/,
    );
    writer.set(() => waiting('A'));
    await turns();
    answering(async () => {});
    clock.advance(2000);
    await turns();
    assert.deepEqual(writes, ['A']);
  });

  it('returns gone when the Pod is deleted during a conflict and the GET is forbidden', async () => {
    const { foreignWrite, losing, writer } = harness();
    foreignWrite(() => {});
    losing();
    assert.equal(await writer.writeNow(() => running, signal), 'gone');
  });

  it('writeNow does not wait for a pending delay', async () => {
    const { answering, writer, turns, writes } = harness();
    answering(async () => {
      throw new KubeError('unreachable', 'no answer');
    });
    writer.set(() => waiting('A'));
    await turns();
    answering(async () => {});
    assert.equal(await writer.writeNow(() => running, signal), 'written');
    assert.deepEqual(writes, ['Running']);
  });
});
