import { after, before, describe, test } from 'node:test';
import type { Behaviour } from './behaviour.ts';
import type { ClusterUnderTest } from './cluster.ts';
import { deadline } from './deadline.ts';
import { startTrial } from './trial.ts';

/** How many behaviours run at a time. */
const together = 8;

/** Registers one test per behaviour. They share the cluster and nothing else. */
export const registerContract = (
  title: string,
  behaviours: readonly Behaviour[],
  makeCluster: () => Promise<ClusterUnderTest>,
  patienceMilliseconds: number,
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

    for (const { topic, sentence, run, needs } of behaviours) {
      test(`${topic}: ${sentence}`, { timeout: 3 * patienceMilliseconds }, async (t) => {
        if (!cluster) throw new Error('There is no cluster');
        if (needs !== undefined && (await cluster.request({ method: 'GET', path: needs })).code === 404) {
          t.skip(`${needs} is not served`);
          return;
        }
        const { trial, over } = startTrial({
          cluster,
          deadline: deadline(patienceMilliseconds),
          leaveToTheEnd: (path) => void left.push(path),
        });
        try {
          await run(trial);
        } finally {
          await over();
        }
      });
    }
  });
};
