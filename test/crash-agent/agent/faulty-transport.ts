import type { Transport } from '@tartan/kube';
import type { Alias } from './effect-names.ts';
import { die, type FaultWatch } from './fault-watch.ts';

/** `finalizers`, or the phase and the state of the container. */
const saidIn = (body: string): string => {
  const { metadata, status } = JSON.parse(body) as {
    metadata?: { finalizers?: readonly string[] };
    status?: {
      phase?: string;
      containerStatuses?: readonly { state?: Record<string, { reason?: string } | null> }[];
    };
  };
  if (metadata?.finalizers !== undefined) return `${metadata.finalizers.length} finalizers`;
  const states = Object.entries(status?.containerStatuses?.[0]?.state ?? {});
  const [kind, state] = states.find(([, one]) => one !== null) ?? ['', undefined];
  return [status?.phase, kind, state?.reason?.replace(/ \d+ %/, '')].filter((word) => word).join(' ');
};

/** Makes effects of writes to the server. */
export const faultyTransport = (transport: Transport, watch: FaultWatch, alias: Alias): Transport => ({
  ...transport,
  send: async (request) => {
    const { body = '', method, path } = request;
    if (method === 'GET') return transport.send(request);
    const [where = ''] = path.split('?');
    const target = where.replace(/^.*\/(pods|serviceaccounts)\//, '$1/');
    const said = method === 'PATCH' ? ` (${saidIn(body)})` : '';
    const mode = watch.record(alias(`${method} ${target}${said}`));
    const answer = await transport.send(request);
    return mode === undefined ? answer : die();
  },
});
