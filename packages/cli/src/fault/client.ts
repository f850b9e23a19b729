import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { configMaps, ignoreNotFound } from '@tartan/kube';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { type Cluster, type ClusterChoice, explainRefusal, withCluster } from '../cluster/connection.ts';
import type { ClusterOptions } from '../command-options.ts';
import { wrappedTableLines } from '../output/table.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import { widthOf, writeOutput } from '../output/view.ts';
import { type Shell, withCommandName } from '../shell.ts';
import { discoveryConfigMap, errorResponse, faultList, type FaultOutput, faultOutput, socketKey } from './protocol.ts';

/** Finds the socket of the process that has started this cluster. */
const findSocket = async ({ client }: Pick<Cluster, 'client'>, signal: AbortSignal): Promise<string> => {
  const found = ignoreNotFound(client.get(configMaps, discoveryConfigMap, { signal }));
  const advice = 'The ConfigMap tartan-simulation in the namespace kube-public has the socket of the simulation.';
  const socketPath = (await explainRefusal('read the socket of the simulation', advice, found))?.data?.[socketKey];
  if (socketPath === undefined)
    throw new Error(
      'this cluster is not a simulated fleet. Faults run only on a cluster that `tartan up` has started.',
    );
  return socketPath;
};

/** Sends a request to the process that has started this cluster. */
const send = async (
  choice: ClusterChoice,
  { env, signal }: Shell,
  what: { readonly method: string; readonly path: string },
): Promise<IncomingMessage> => {
  const socketPath = await withCluster(choice, env, (cluster) => findSocket(cluster, signal));
  return sendRequest({ ...what, socketPath, signal });
};

/** The output, line by line; the last one is the result. */
async function* outputOf(response: IncomingMessage): AsyncGenerator<FaultOutput> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = `${rest}${z.string().parse(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield faultOutput.parse(JSON.parse(line));
  }
}

const sendRequest = (options: RequestOptions): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const call = request(options, (response) => {
      if (response.statusCode === 200) return resolve(response);
      text(response)
        .then((body) => reject(new Error(errorResponse.parse(JSON.parse(body)).message)))
        .catch(reject);
    });
    call.on('error', (cause) => reject(isNotListening(cause) ? new Error(notListeningMessage, { cause }) : cause));
    call.end();
  });

const isNotListening = (error: Error): boolean =>
  'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED');

const notListeningMessage = '`tartan up` does not answer: it has ended, or runs on another machine. Start it again.';

/** Where the width of the terminal is unknown. */
const defaultWidth = 132;

export const listFaults = async (options: ClusterOptions, shell: Shell): Promise<number> => {
  const { stdout, env } = shell;
  const response = await send(options, shell, { method: 'GET', path: '/faults' });
  const { faults } = faultList.parse(JSON.parse(await text(response)));
  const document = { schema: 'tartan.faults/v1', at: timestamp(systemClock.now()), faults, notes: [] };
  const rows = faults.map(({ name, title }) => ({ columns: [{ text: name, tone: 'bold' as const }], text: title }));
  const width = widthOf({ stdout }) ?? defaultWidth;
  const style = textStyleFor(stdout, env, options.color);
  writeOutput({ stdout }, options.output, document, () => wrappedTableLines(rows, { width, style }));
  return 0;
};

const exitCodes = { 'as expected': 0, 'not playable': 1, unexpected: 1, stopped: 130 } as const;

/** Prints the output line by line. Closing the connection stops the fault, which repairs everything. */
export const replayFault = async (name: string, choice: ClusterChoice, shell: Shell): Promise<number> => {
  const { stdout, commandName } = shell;
  const response = await send(choice, shell, { method: 'POST', path: `/faults/${encodeURIComponent(name)}` });
  for await (const each of outputOf(response)) {
    if ('line' in each) stdout.write(`${withCommandName(commandName, each.line)}\n`);
    else {
      const head = each.ending === 'unexpected' ? 'Tartan did not react as expected: ' : '';
      stdout.write(`${head}${withCommandName(commandName, each.text)}\n`);
      return exitCodes[each.ending];
    }
  }
  throw new Error('tartan up stopped before the fault ended.');
};
