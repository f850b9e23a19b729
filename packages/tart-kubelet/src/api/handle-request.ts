import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@tartan/kube/clock';
import { showLog } from '../logs/show-log.ts';
import type { Access } from './access/access.ts';
import { answer } from './answer.ts';
import type { ContainerName, PodRuntime } from './pod-runtime.ts';
import { badRequest } from './problem.ts';
import { parseLogQuery } from './query.ts';
import { formatUsage } from './resource-metrics.ts';
import { parseTarget } from './route.ts';

export interface RequestParts {
  runtime: PodRuntime;
  access: Access;
  clock: Clock;
  /** The agent's own, in Prometheus' text. */
  metrics: () => Promise<{ contentType: string; body: string }>;
  /** What is wrong with the agent; undefined when it is well. */
  unhealthy: () => string | undefined;
}

const sendLog = async (
  { runtime, clock }: RequestParts,
  container: ContainerName,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> => {
  const { timestamps, since, limitBytes, ...wanted } = parseLogQuery(query, clock.now());
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const records = await runtime.readLog(container, { ...wanted, signal: gone.signal });
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  // Who follows a quiet log should know at once that it is being followed.
  response.flushHeaders();
  if (response.req.method === 'HEAD') return void response.end();
  try {
    await pipeline(showLog(records, { timestamps, since, limitBytes }), response);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
};

/** Answers everything that stays HTTP. Rejects with ApiProblem, or anything else for what is our own fault. */
export const handleRequest = async (
  parts: RequestParts,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { runtime, access, metrics, unhealthy } = parts;
  const { route, query } = parseTarget(incoming.method ?? '', incoming.url ?? '');
  await access.admit(incoming, route);
  switch (route.kind) {
    case 'containerLogs':
      return await sendLog(parts, route.container, query, response);
    case 'exec':
    case 'attach':
    case 'portForward':
      throw badRequest('Upgrade request required');
    case 'pods': {
      const list = { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: runtime.pods() };
      return answer(response, 200, JSON.stringify(list), 'application/json');
    }
    case 'metrics': {
      const { contentType, body } = await metrics();
      return answer(response, 200, body, contentType);
    }
    case 'resourceMetrics':
      return answer(response, 200, formatUsage(await runtime.usage()), 'text/plain; version=0.0.4; charset=utf-8');
    case 'health': {
      const problem = unhealthy();
      return answer(response, problem === undefined ? 200 : 500, problem ?? 'ok');
    }
  }
};
