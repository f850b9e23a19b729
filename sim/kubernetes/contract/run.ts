import { after, before, describe, test } from 'node:test';
import type { Behaviour } from './behaviour.ts';
import type { ClusterUnderTest } from './cluster.ts';
import { startBehaviour } from './behaviour-context.ts';
import { testTimeoutMs } from './within.ts';

/** How many behaviours run concurrently. */
const together = 8;

/** Registers one test per behaviour. They share only the cluster. */
export const registerContract = (
  title: string,
  behaviours: readonly Behaviour[],
  makeCluster: () => Promise<ClusterUnderTest>,
  concurrency = together,
): void => {
  describe(title, { concurrency }, () => {
    let cluster: ClusterUnderTest | undefined;
    const left: string[] = [];

    before(async () => {
      cluster = await makeCluster();
    });

    after(async () => {
      for (const path of left.reverse()) await cluster?.request({ method: 'DELETE', path });
      await cluster?.close();
    });

    for (const { topic, sentence, run } of behaviours) {
      test(`${topic}: ${sentence}`, { timeout: testTimeoutMs }, async () => {
        if (!cluster) throw new Error('There is no cluster');
        const { context, over } = startBehaviour({
          cluster,
          deleteAfterRun: (path) => void left.push(path),
        });
        try {
          await run(context);
        } finally {
          await over();
        }
      });
    }
  });
};
