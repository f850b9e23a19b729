import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createKubernetes, type Kubernetes, serve } from '@tartan/sim-kubernetes';
import { type Figure, median } from './figure.ts';

/**
 * The cost of the embedded Kubernetes, relative to a minimal server in this process that sends the same bytes over the same TLS. And the
 * cost of a watch, of which a fleet has hundreds.
 */

const rounds = 5;
const requests = 400;
const watches = 500;

const body = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'bench' },
  data: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, 'x'.repeat(40)])),
});

const send = (agent: Agent, url: string, method: string, payload?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request(url, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });

const millisecondsPerGet = async (agent: Agent, url: string): Promise<number> => {
  const started = performance.now();
  for (let count = 0; count < requests; count++) await send(agent, url, 'GET');
  return (performance.now() - started) / requests;
};

const watchKilobytes = async (kubernetes: Kubernetes): Promise<number> => {
  const abort = new AbortController();
  const collect = (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = collect();
  const open = await Promise.all(
    Array.from({ length: watches }, () =>
      kubernetes.handle({
        method: 'GET',
        path: '/api/v1/namespaces/default/configmaps',
        query: new URLSearchParams('watch=true'),
        headers: {},
        body: new Uint8Array(),
        certificate: { commonName: 'bench', organizations: ['system:masters'] },
        signal: abort.signal,
      }),
    ),
  );
  const after = collect();
  abort.abort();
  return (after - before) / open.length / 1024;
};

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const kubernetes = await createKubernetes();
  const { handle, identity } = kubernetes;
  const server = await serve({ handle, identity });
  const credentials = await identity.issue({
    commonName: 'bench',
    organizations: ['system:masters'],
    usages: ['client auth', 'digital signature'],
    seconds: 3600,
  });
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ca: identity.caCertificate,
    cert: credentials.certificate,
    key: credentials.key,
  });
  const serving = await identity.issue({
    commonName: 'bare',
    organizations: [],
    addresses: ['127.0.0.1'],
    usages: ['server auth', 'digital signature'],
    seconds: 3600,
  });
  const path = `${server.url}/api/v1/namespaces/default/configmaps`;
  await send(agent, path, 'POST', body);
  const answer = await send(agent, `${path}/bench`, 'GET');
  const bare = createServer(
    { cert: serving.certificate, key: serving.key, ca: identity.caCertificate, requestCert: true },
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer);
    },
  );
  await new Promise<void>((resolve) => {
    bare.listen(0, '127.0.0.1', resolve);
  });
  const bareUrl = `https://127.0.0.1:${(bare.address() as AddressInfo).port}/`;

  const ratios: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const peer = await millisecondsPerGet(agent, bareUrl);
    const ours = await millisecondsPerGet(agent, `${path}/bench`);
    ratios.push(ours / peer);
    say(`round ${round}: GET ${ours.toFixed(3)} ms, a bare server ${peer.toFixed(3)} ms`);
  }
  const perWatch = await watchKilobytes(kubernetes);
  agent.destroy();
  bare.close();
  await server.close();
  kubernetes.stop();
  return [
    { what: 'GET of one object, against a bare HTTPS server', value: median(ratios), unit: 'ratio', goal: '<= 2' },
    { what: 'memory of an idle watch', value: perWatch, unit: 'KiB', goal: '<= 16' },
  ];
};
