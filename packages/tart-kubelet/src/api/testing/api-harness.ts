import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTLS, type TLSSocket } from 'node:tls';
import { createLogger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { WebSocket } from 'ws';
import { type ApiLimits, createKubeletApi, type KubeletApi, type KubeletApiOptions } from '../server.ts';
import { createFakeRuntime, type FakeRuntime } from './fake-runtime.ts';

interface RunningServer {
  readonly api: KubeletApi;
  readonly runtime: FakeRuntime;
  readonly port: number;
  close(): Promise<void>;
}

interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface Issue {
  readonly usage?: 'client auth' | 'server auth';
  readonly from?: Kubernetes;
}

/** Kubelet APIs that trust one CA, and their clients. By default the server is `served` and the client `admin`. */
export interface ApiHarness {
  readonly admin: KeyPair;
  readonly served: RunningServer;
  issue(commonName: string, options?: Issue): Promise<KeyPair>;
  open(limits?: Partial<ApiLimits>, more?: Partial<KubeletApiOptions>): Promise<RunningServer>;
  request(path: string, options?: object, to?: RunningServer): Promise<{ code?: number; body: string; type?: string }>;
  dialTLS(options?: object, to?: RunningServer): Promise<TLSSocket>;
  openWebSocket(path: string, protocol?: string, to?: RunningServer): WebSocket;
  openSpdy(path: string, protocol: string, to?: RunningServer): Promise<Socket>;
  close(): Promise<void>;
}

/** Query of an `exec` URL that runs a script. */
export const command = 'command=sh&command=-c&command=';

export const ended = async (socket: Socket): Promise<void> => {
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
};

const host = '127.0.0.1';

const issueFrom = async (kubernetes: Kubernetes, commonName: string, { usage, from }: Issue = {}): Promise<KeyPair> => {
  const { certificate, key } = await (from ?? kubernetes).identity.issue({
    commonName,
    organizations: [],
    addresses: [host],
    usages: [usage ?? 'client auth', 'digital signature'],
    seconds: 3600,
  });
  return { cert: certificate, key };
};

export const createApiHarness = async (): Promise<ApiHarness> => {
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-api-'));
  const kubernetes = await createKubernetes();
  const issue: ApiHarness['issue'] = (commonName, options) => issueFrom(kubernetes, commonName, options);

  const open: ApiHarness['open'] = async (limits = {}, more = {}) => {
    const keyPair = await issue('server', { usage: 'server auth' });
    const runtime = createFakeRuntime({ folder: mkdtempSync(join(folder, 'api-')) });
    const api = createKubeletApi({
      runtime,
      reviews: {
        reviewToken: async (token) => (token === 'good' ? { name: 'admin', groups: [] } : undefined),
        reviewAccess: async ({ name }) => name === 'admin',
      },
      nodeName: 'mac-1',
      host,
      port: 0,
      clientCA: kubernetes.identity.caCertificate,
      keyPair,
      clock: systemClock,
      log: createLogger({ clock: systemClock, level: 'error', write: () => {} }),
      metrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'tart_up 1\n' }),
      limits: { closingMs: 10, ...limits },
      ...more,
    });
    const stop = new AbortController();
    const done = api.run(stop.signal);
    const { port } = await Promise.race([api.address, done.then(() => api.address)]);
    const close = async (): Promise<void> => {
      stop.abort();
      await done;
      await runtime.endLog();
    };
    return { api, runtime, port, close };
  };

  const admin = await issue('admin');
  const served = await open();
  const insecure = { rejectUnauthorized: false };
  return {
    admin,
    served,
    issue,
    open,
    request: async (path, options = admin, to = served) => {
      const outgoing = request({ host, port: to.port, path, agent: false, ...insecure, ...options });
      outgoing.end();
      const [response]: IncomingMessage[] = await once(outgoing, 'response');
      let body = '';
      for await (const chunk of response ?? []) body += String(chunk);
      const [code, type] = [response?.statusCode, response?.headers['content-type']];
      return { ...(code !== undefined && { code }), body, ...(type !== undefined && { type }) };
    },
    dialTLS: async (options = admin, to = served) => {
      const socket = connectTLS({ host, port: to.port, ...insecure, ...options });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      return socket;
    },
    openWebSocket: (path, protocol = 'v5.channel.k8s.io', to = served) =>
      new WebSocket(`wss://${host}:${to.port}${path}`, protocol, { ...admin, ...insecure }),
    openSpdy: async (path, protocol, to = served) => {
      const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
      const about = { host, port: to.port, path, method: 'POST', agent: false as const, headers };
      const outgoing = request({ ...about, ...insecure, ...admin });
      outgoing.end();
      const [response, socket] = await Promise.race([once(outgoing, 'upgrade'), once(outgoing, 'response')]);
      if (socket === undefined) throw new Error(`refused with ${response.statusCode}`);
      socket.on('error', () => {});
      return socket;
    },
    close: async () => {
      await served.close();
      kubernetes.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
