import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@tartan/kube/clock';
import { formatLog } from '../logs/read-log.ts';
import type { RequestAuth } from './auth/auth.ts';
import { badRequest, sendResponse } from './http-response.ts';
import { parseLogQuery, parseRequest } from './parse-request.ts';
import type { ContainerName, PodRuntime } from './pod-runtime.ts';
import { formatResourceMetrics } from './resource-metrics.ts';

export interface RequestDeps {
  runtime: PodRuntime;
  auth: RequestAuth;
  clock: Clock;
  /** The agent's own metrics, in Prometheus' text format. */
  metrics: () => Promise<{ contentType: string; body: string }>;
}

const sendLog = async (
  { runtime, clock }: RequestDeps,
  container: ContainerName,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> => {
  const { timestamps, since, limitBytes, ...wanted } = parseLogQuery(query, clock.now());
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const records = await runtime.readLog(container, { ...wanted, signal: disconnected.signal });
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  // Send the headers at once, also for a quiet log that is followed.
  response.flushHeaders();
  if (response.req.method === 'HEAD') return void response.end();
  try {
    await pipeline(formatLog(records, { timestamps, since, limitBytes }), response);
  } catch (error) {
    if (!disconnected.signal.aborted) throw error;
  }
};

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Handles requests that are not upgraded. Rejects with HttpError, or with any other error for a bug. */
export const handleRequest = async (
  deps: RequestDeps,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { runtime, auth, metrics } = deps;
  const { route, query } = parseRequest(incoming.method ?? '', incoming.url ?? '');
  await auth.authorize(incoming, route);
  switch (route.kind) {
    case 'containerLogs':
      return await sendLog(deps, route.container, query, response);
    case 'exec':
    case 'attach':
    case 'portForward':
      throw badRequest('Upgrade request required');
    case 'pods': {
      const list = { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: runtime.pods() };
      return sendResponse(response, 200, JSON.stringify(list), 'application/json');
    }
    case 'metrics': {
      const { contentType, body } = await metrics();
      return sendResponse(response, 200, body, contentType);
    }
    case 'resourceMetrics':
      return sendResponse(response, 200, formatResourceMetrics(await runtime.usage()), metricsType);
    case 'noMetrics':
      return sendResponse(response, 200, '', metricsType);
    case 'health':
      return sendResponse(response, 200, 'ok');
  }
};
