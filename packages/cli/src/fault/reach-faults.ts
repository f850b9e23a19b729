import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { configMaps, isKubeError } from '@tartan/kube';
import { z } from 'zod';
import { asked, type Cluster, ClusterRefusal } from '../cluster/cluster.ts';
import { faultList, type PlayLine, playLine, refusal, socketKey, whereabouts } from './wire.ts';

/** The faults of the simulated fleet behind a kubeconfig. Both reject with a sentence for people. */
export interface ReachedFaults {
  list(signal: AbortSignal): Promise<z.infer<typeof faultList>>;
  /** What happens, line by line; the last one is its end. Ends early, with an error, when the fleet does. */
  play(name: string, signal: AbortSignal): AsyncIterable<PlayLine>;
}

/** Finds out where the process listens that has started this cluster. */
export const reachFaults = async ({ client }: Pick<Cluster, 'client'>, signal: AbortSignal): Promise<ReachedFaults> => {
  const found = client.get(configMaps, whereabouts, { signal }).catch((error: unknown) => {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  });
  const advice = 'Faults are found through the ConfigMap tartan-simulation of the namespace kube-public.';
  const socketPath = (await asked('read where faults are played', advice, found))?.data?.[socketKey];
  if (socketPath === undefined)
    throw new ClusterRefusal(
      'this cluster is no simulated fleet: faults are played on those that `tartan up` has started.',
    );
  const send = (method: string, path: string, stop: AbortSignal) =>
    answerOf({ socketPath, method, path, signal: stop });
  return {
    list: async (stop) => faultList.parse(JSON.parse(await text(await send('GET', '/faults', stop)))),
    play: async function* (name, stop) {
      const answer = await send('POST', `/faults/${encodeURIComponent(name)}`, stop);
      let rest = '';
      for await (const chunk of answer.setEncoding('utf8')) {
        const lines = `${rest}${z.string().parse(chunk)}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield playLine.parse(JSON.parse(line));
      }
    },
  };
};

const answerOf = (options: {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal;
}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const call = request(options, (response) => {
      if (response.statusCode === 200) return resolve(response);
      text(response)
        .then((body) => reject(new ClusterRefusal(refusal.parse(JSON.parse(body)).message)))
        .catch(reject);
    });
    call.on('error', (cause) => reject(isNobody(cause) ? new ClusterRefusal(nobody, { cause }) : cause));
    call.end();
  });

const isNobody = (error: Error): boolean =>
  'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');

const nobody =
  'nobody plays faults on this cluster any more: the `tartan up` that has started it has ended, or runs on another machine. Start it again.';
