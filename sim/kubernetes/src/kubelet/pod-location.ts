import { isIPv6 } from 'node:net';
import { ApiError, badRequest, notFound } from '../errors/api-error.ts';
import { isObject, type KubeObject } from '../object.ts';
import type { ActionRequest } from '../resource.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';

export const podOf = ({ context: { api }, namespace, name }: ActionRequest): KubeObject => {
  const pods = api.find('', 'pods');
  const pod = pods && api.get(pods, namespace, name);
  if (!pod) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, name);
  return pod;
};

/** '' while the Pod is not scheduled. */
export const scheduledNodeOf = (pod: KubeObject): string => {
  const nodeName = isObject(pod['spec']) ? pod['spec']['nodeName'] : undefined;
  return typeof nodeName === 'string' ? nodeName : '';
};

const namesIn = (spec: Record<string, unknown>, field: string): string[] => {
  const list = Array.isArray(spec[field]) ? spec[field].filter(isObject) : [];
  return list.map(({ name }) => String(name));
};

/** The container of a request: the named one, or the only one. */
export const chooseContainer = (pod: KubeObject, asked: string): string => {
  const spec = isObject(pod['spec']) ? pod['spec'] : {};
  const containers = namesIn(spec, 'containers');
  const all = [...namesIn(spec, 'initContainers'), ...containers, ...namesIn(spec, 'ephemeralContainers')];
  const { name } = pod.metadata;
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only, ...others] = containers;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`);
  if (others.length === 0) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
};

const preferred = ['InternalIP', 'ExternalIP', 'Hostname'];
const defaultPort = 10250;

interface Address {
  type: string;
  address: string;
}

const addressesOf = (status: Record<string, unknown>): Address[] => {
  const list = Array.isArray(status['addresses']) ? status['addresses'].filter(isObject) : [];
  return list.map(({ type, address }) => ({ type: String(type), address: String(address) }));
};

const portOf = (status: Record<string, unknown>): number => {
  const endpoints = isObject(status['daemonEndpoints']) ? status['daemonEndpoints'] : {};
  const endpoint = isObject(endpoints['kubeletEndpoint']) ? endpoints['kubeletEndpoint'] : {};
  const port = endpoint['Port'];
  return typeof port === 'number' && port > 0 ? port : defaultPort;
};

/** The https origin of a kubelet, from the status of its Node. */
export const originOf = (status: Record<string, unknown>): string => {
  const addresses = addressesOf(status);
  const found = preferred.flatMap((type) => addresses.filter((each) => each.type === type))[0];
  if (!found) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
    throw new ApiError(500, '', `no preferred addresses found; known addresses: [${known}]`);
  }
  const host = isIPv6(found.address) ? `[${found.address}]` : found.address;
  return `https://${host}:${portOf(status)}`;
};

export const kubeletOrigin = (api: LoopbackClient, nodeName: string): string => {
  const nodes = api.find('', 'nodes');
  const node = nodes && api.get(nodes, '', nodeName);
  // The real server too reports the missing Node as a missing Pod.
  if (!node) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, nodeName);
  return originOf(isObject(node['status']) ? node['status'] : {});
};
