import { badRequest, forbiddenTo } from '../errors/api-error.ts';
import type { Action, ActionRequest } from '../resource.ts';
import type { Connect } from './kubelet-client.ts';
import { chooseContainer, kubeletOrigin, podOf, scheduledNodeOf } from './pod-location.ts';
import { flag, logAction } from './pod-log.ts';

type StreamKind = 'exec' | 'attach' | 'portforward';

const kubeletNames = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

/** The query for the kubelet. */
const streamQuery = (kind: StreamKind, query: URLSearchParams): URLSearchParams => {
  const result = new URLSearchParams();
  if (kind === 'portforward') {
    const ports = query.getAll('ports');
    if (ports.length > 0) result.set('port', ports.join(','));
    return result;
  }
  for (const [name, kubeletName] of Object.entries(kubeletNames)) if (flag(query, name)) result.set(kubeletName, '1');
  if (kind === 'exec') for (const word of query.getAll('command')) result.append('command', word);
  result.sort();
  return result;
};

/** A WebSocket starts with a GET, but exec needs the verb `create`. */
const assertMayCreate = (
  { verb, name, namespace, context: { api, user } }: ActionRequest,
  subresource: StreamKind,
): void => {
  if (verb === 'create') return;
  const { allowed, reason } = api.authorize({
    user,
    verb: 'create',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource,
    namespace,
    name,
    fieldSelector: '',
    labelSelector: '',
  });
  if (!allowed) throw forbiddenTo({ group: '', plural: 'pods', kind: 'Pod' }, name, reason);
};

const asksForUpgrade = ({ headers }: ActionRequest): boolean =>
  (headers['connection'] ?? '').toLowerCase().includes('upgrade');

const pathOf = (kind: StreamKind, { namespace, name }: ActionRequest, container: string): string =>
  kind === 'portforward' ? `/portForward/${namespace}/${name}` : `/${kind}/${namespace}/${name}/${container}`;

/** Returns the kubelet's URL; the transport connects client and kubelet. */
const streamAction =
  (kind: StreamKind): Action =>
  (call) => {
    assertMayCreate(call, kind);
    const pod = podOf(call);
    const container = kind === 'portforward' ? '' : chooseContainer(pod, call.query.get('container') ?? '');
    const nodeName = scheduledNodeOf(pod);
    if (nodeName === '') throw badRequest(`pod ${call.name} does not have a host assigned`);
    const origin = kubeletOrigin(call.context.api, nodeName);
    const query = streamQuery(kind, call.query);
    if (!asksForUpgrade(call)) throw badRequest('Upgrade request required');
    return {
      kind: 'upgrade',
      url: `${origin}${pathOf(kind, call, container)}${query.size > 0 ? `?${query.toString()}` : ''}`,
    };
  };

/** The subresources of Pods that the kubelet serves, by name. */
export const kubeletActions = ({
  connect,
}: {
  connect: Connect;
}): Record<'log' | 'exec' | 'attach' | 'portforward', Action> => ({
  log: logAction(connect),
  exec: streamAction('exec'),
  attach: streamAction('attach'),
  portforward: streamAction('portforward'),
});
