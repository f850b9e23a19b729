import { after, before, describe, it } from 'node:test';
import { customResourceDefinitions, isKubeError, isConditionTrue } from '@tartan/kube';
import { clear } from './clear.ts';
import type { Host } from './host.ts';
import { playedDefinitions } from './played-kinds.ts';
import type { Scenario } from './scenario.ts';
import { bringUp } from './scenarios/bring-up.ts';
import { wholeCluster } from './scenarios/cluster.ts';
import { draining } from './scenarios/draining.ts';
import { rolling } from './scenarios/rolling.ts';
import { scaling } from './scenarios/scaling.ts';
import { createStage } from './stage.ts';

const scenarios: Readonly<Record<string, readonly Scenario[]>> = {
  'bringing up': bringUp,
  scaling,
  rolling,
  draining,
  'the whole Cluster': wholeCluster,
};

/** One that is there already is as good as one that was made. */
const install = async ({ client, moment }: Host): Promise<void> => {
  for (const definition of playedDefinitions) {
    try {
      await client.create(customResourceDefinitions, definition);
    } catch (error) {
      if (!isKubeError(error, 'alreadyExists')) throw error;
    }
    const name = definition.metadata?.name ?? '';
    const isServed = async (): Promise<boolean> => {
      const { status } = await client.get(customResourceDefinitions, { name });
      return isConditionTrue(status?.conditions as Parameters<typeof isConditionTrue>[0], 'Established');
    };
    while (!(await isServed())) await moment();
  }
};

/**
 * Plays every scenario on a host, each in a namespace of its own. What holds for core must hold for whoever stands in for it, so nothing
 * here knows who is at work. Those of a chapter go on at the same time if `sideBySide`: core looks again after 20 s or 30 s, and nobody
 * wants to wait for one scenario after the other.
 */
export const runClusterApiSuite = (
  title: string,
  start: () => Promise<Host>,
  { sideBySide = false }: { readonly sideBySide?: boolean } = {},
): void => {
  describe(title, () => {
    let host: Host;
    let played = 0;
    before(async () => {
      host = await start();
      await install(host);
    });
    after(() => host.stop());

    for (const [chapter, list] of Object.entries(scenarios))
      describe(chapter, { concurrency: sideBySide }, () => {
        for (const { name, play } of list)
          it(name, async () => {
            played += 1;
            const namespace = `played-${process.pid}-${played}`;
            const stage = await createStage(host, namespace);
            try {
              await play(stage);
            } finally {
              await clear(host.client, namespace);
            }
          });
      });
  });
};
