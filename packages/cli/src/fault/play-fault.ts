import { type ClusterChoice, ClusterRefusal, withCluster } from '../cluster/cluster.ts';
import { inTheWordsOf, type Shell } from '../shell.ts';
import { reachFaults } from './reach-faults.ts';

const codes = { 'as told': 0, cannot: 1, 'not as told': 1, stopped: 130 } as const;

/** Says it line by line. Whoever asks for its end has the connection closed, which mends it over there. */
export const playFault = async (name: string, choice: ClusterChoice, shell: Shell): Promise<number> => {
  const { stdout, env, signal, calledAs } = shell;
  const faults = await withCluster(choice, env, (cluster) => reachFaults(cluster, signal));
  for await (const each of faults.play(name, signal)) {
    if ('line' in each) stdout.write(`${inTheWordsOf(calledAs, each.line)}\n`);
    else {
      const head = each.ending === 'not as told' ? 'It did not end as it should: ' : '';
      stdout.write(`${head}${inTheWordsOf(calledAs, each.text)}\n`);
      return codes[each.ending];
    }
  }
  throw new ClusterRefusal('the fleet has ended in the middle of the play.');
};
