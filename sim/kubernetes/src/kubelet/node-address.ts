import { isIPv6 } from 'node:net';
import type { Api } from '../api/api.ts';
import { isObject } from '../object.ts';
import { ApiError, notFound } from '../status/api-error.ts';

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

/** Where the status of a Node says its kubelet listens: an https origin. */
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

export const kubeletOrigin = (api: Api, nodeName: string): string => {
  const nodes = api.find('', 'nodes');
  const node = nodes && api.get(nodes, '', nodeName);
  // The real server looks the Node up in a request about pods, and words it so.
  if (!node) throw notFound({ group: '', plural: 'pods', kind: 'Pod' }, nodeName);
  return originOf(isObject(node['status']) ? node['status'] : {});
};
