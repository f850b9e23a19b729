import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configMaps, isKubeError } from '@tartan/kube';
import { nearestName } from '@tartan/kube/flags';
import type { Simulation } from '@tartan/sim-fleet';
import type { Fault } from './fault.ts';
import { discoveryConfigMap, type FaultOutput, type FaultResult, socketKey } from './protocol.ts';
import { runFault } from './run-fault.ts';

export interface FaultServer {
  readonly socket: string;
  /** Also stops the running fault, which repairs what it broke. */
  stop(): Promise<void>;
}

interface RunningFault {
  readonly name: string;
  readonly over: AbortController;
  readonly done: Promise<FaultResult>;
}

/** Runs faults on request, over a socket that only its owner can open. One at a time, since each repairs what another might have broken. */
export const startFaultServer = async (simulation: Simulation, faults?: readonly Fault[]): Promise<FaultServer> => {
  const known = faults ?? (await import('./catalogue.ts')).catalogue;
  // Paths of sockets are limited to about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), 'tartan-'));
  const socket = join(folder, 'faults');
  let current: RunningFault | undefined;

  const begin = (fault: Fault, response: ServerResponse): void => {
    const over = new AbortController();
    const write = (line: FaultOutput): void => void response.write(`${JSON.stringify(line)}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
    response.on('close', () => over.abort());
    const context = { simulation, report: (line: string) => write({ line }), signal: over.signal };
    const done = runFault(fault, context);
    current = { name: fault.name, over, done };
    void done.then((result) => {
      current = undefined;
      write(result);
      response.end();
    });
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const refuse = (status: number, message: string): void => reply(status, { message });
    const { pathname } = new URL(request.url ?? '/', 'http://faults');
    if (request.method === 'GET' && pathname === '/faults')
      return reply(200, { faults: known.map(({ name, title, watch }) => ({ name, title, watch })) });
    const [, typed] = /^\/faults\/([^/]+)$/.exec(pathname) ?? [];
    if (request.method !== 'POST' || typed === undefined) return refuse(404, `not found: ${pathname}`);
    const fault = known.find(({ name }) => name === typed);
    if (fault === undefined) {
      const near = nearestName(
        decodePath(typed),
        known.map(({ name }) => name),
      );
      return refuse(
        404,
        `unknown fault.${near === undefined ? '' : ` Did you mean ${near}?`} tartan fault list shows all.`,
      );
    }
    if (current !== undefined)
      return refuse(409, `${current.name} is already running: wait until it has ended, or stop it with Ctrl-C.`);
    begin(fault, response);
  };

  const server = createServer(answer);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
    await chmod(socket, 0o600);
    await publish(simulation, socket);
  } catch (error) {
    server.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    socket,
    stop: async () => {
      current?.over.abort();
      await current?.done;
      await unpublish(simulation, socket);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const decodePath = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const publish = async ({ controlPlane: { client } }: Simulation, socket: string): Promise<void> => {
  const data = { [socketKey]: socket };
  const wanted = { apiVersion: 'v1', kind: 'ConfigMap', metadata: discoveryConfigMap, data } as const;
  await client.create(configMaps, wanted).catch(async (error: unknown) => {
    // An earlier start has left it behind.
    if (!isKubeError(error, 'alreadyExists')) throw error;
    await client.patch(configMaps, discoveryConfigMap, { type: 'merge', body: { data } });
  });
};

/** Does nothing if another process has published its socket, or the cluster is gone. */
const unpublish = async ({ controlPlane: { client } }: Simulation, socket: string): Promise<void> => {
  try {
    const { data } = await client.get(configMaps, discoveryConfigMap);
    if (data?.[socketKey] === socket) await client.delete(configMaps, discoveryConfigMap);
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
};
