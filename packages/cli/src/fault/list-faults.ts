import { systemClock, timestamp } from '@tartan/kube/clock';
import { withCluster } from '../cluster/cluster.ts';
import { type ClusterOptions, choiceOf } from '../cluster/options.ts';
import type { Shell } from '../shell.ts';
import { lookOf } from '../show/look.ts';
import { hangingLines } from '../show/hanging.ts';
import { reachFaults } from './reach-faults.ts';

/** Where nobody says how wide a line may be. */
const usualWidth = 132;

export const listFaults = async (options: ClusterOptions, { stdout, env, signal }: Shell): Promise<number> => {
  const { faults } = await withCluster(choiceOf(options), env, async (cluster) =>
    (await reachFaults(cluster, signal)).list(signal),
  );
  if (options.output === 'json') {
    const document = { schema: 'tartan.faults/v1', at: timestamp(systemClock.now()), faults, notes: [] };
    stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return 0;
  }
  const width = stdout.isTTY === true ? (stdout.columns ?? usualWidth) : usualWidth;
  const look = lookOf(stdout, env, options.color);
  const rows = faults.map(({ name, title }) => ({ columns: [{ text: name, tone: 'bold' as const }], text: title }));
  for (const line of hangingLines(rows, { width, look })) stdout.write(`${line}\n`);
  return 0;
};
