import { isObject, type KubeObject } from '../../object.ts';
import { addQuantities, compareQuantities } from '../../quantity.ts';
import { childOf, type Fields, fieldsOf, fill, objectsOf, textOf, textsOf } from '../../unstructured.ts';

const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?';
const reference = new RegExp(
  `^(?:${domain}/)?${part}(?:/${part})*(?::([\\w][\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/** An image without tag and digest means latest. An invalid name has no tag either. */
export const isLatest = (image: string): boolean => {
  const match = reference.exec(image);
  if (!match) return false;
  const [, tag, digest] = match;
  return tag === undefined ? digest === undefined : tag === 'latest';
};

const pullPolicy = (image: unknown): string => (isLatest(textOf(image)) ? 'Always' : 'IfNotPresent');

const defaultHttpGet = (handler: unknown): void => {
  const { httpGet } = fieldsOf(handler);
  if (!isObject(httpGet)) return;
  fill(httpGet, 'path', '/');
  fill(httpGet, 'scheme', 'HTTP');
};

const defaultProbe = (probe: unknown): void => {
  if (!isObject(probe)) return;
  fill(probe, 'timeoutSeconds', 1);
  fill(probe, 'periodSeconds', 10);
  fill(probe, 'successThreshold', 1);
  fill(probe, 'failureThreshold', 3);
  defaultHttpGet(probe);
};

const defaultFieldRef = (item: Fields): void => {
  if (isObject(item['fieldRef'])) fill(item['fieldRef'], 'apiVersion', 'v1');
};

/** Requests default to the limits. */
const defaultRequests = (container: Fields): void => {
  const resources = childOf(container, 'resources');
  const limits = textsOf(resources['limits']);
  if (Object.keys(limits).length > 0) resources['requests'] = { ...limits, ...textsOf(resources['requests']) };
};

const defaultContainer = (container: Fields): void => {
  fill(container, 'imagePullPolicy', pullPolicy(container['image']));
  fill(container, 'terminationMessagePath', '/dev/termination-log');
  fill(container, 'terminationMessagePolicy', 'File');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(container[probe]);
  const lifecycle = fieldsOf(container['lifecycle']);
  defaultHttpGet(lifecycle['postStart']);
  defaultHttpGet(lifecycle['preStop']);
  for (const variable of objectsOf(container['env'])) defaultFieldRef(fieldsOf(variable['valueFrom']));
};

const defaultHostPorts = (container: Fields): void => {
  for (const port of objectsOf(container['ports'])) fill(port, 'hostPort', port['containerPort']);
};

const fileMode = 0o644;

const defaultVolume = (volume: Fields): void => {
  const types = Object.keys(volume).filter((key) => key !== 'name');
  if (types.length === 0) volume['emptyDir'] = {};
  for (const type of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const source = volume[type];
    if (isObject(source)) fill(source, 'defaultMode', fileMode);
  }
  // An unset hostPath type is written as ''.
  if (isObject(volume['hostPath'])) volume['hostPath']['type'] ??= '';
  if (isObject(volume['image'])) fill(volume['image'], 'pullPolicy', pullPolicy(volume['image']['reference']));
  for (const item of objectsOf(fieldsOf(volume['downwardAPI'])['items'])) defaultFieldRef(item);
  for (const source of objectsOf(fieldsOf(volume['projected'])['sources'])) {
    for (const item of objectsOf(fieldsOf(source['downwardAPI'])['items'])) defaultFieldRef(item);
    if (isObject(source['serviceAccountToken'])) fill(source['serviceAccountToken'], 'expirationSeconds', 3600);
  }
};

/** The requests of all containers together; init containers only count where they need more. */
const containerRequests = (spec: Fields): Record<string, string> => {
  const total: Record<string, string> = {};
  const requestsOf = (container: Fields) => Object.entries(textsOf(fieldsOf(container['resources'])['requests']));
  for (const container of objectsOf(spec['containers'])) {
    for (const [name, amount] of requestsOf(container)) total[name] = addQuantities(total[name] ?? '0', amount);
  }
  for (const container of objectsOf(spec['initContainers'])) {
    for (const [name, amount] of requestsOf(container)) {
      if (compareQuantities(amount, total[name] ?? '0') > 0) total[name] = amount;
    }
  }
  return total;
};

/** With pod-level limits, pod-level requests default to those of the containers, then to the pod-level limits. */
const defaultPodRequests = (spec: Fields): void => {
  const resources = fieldsOf(spec['resources']);
  const limits = textsOf(resources['limits']);
  if (Object.keys(limits).length === 0) return;
  const common = Object.entries(containerRequests(spec)).filter(([name]) => name === 'cpu' || name === 'memory');
  resources['requests'] = { ...limits, ...Object.fromEntries(common), ...textsOf(resources['requests']) };
};

/** Synchronises an address and the list of addresses; the single one wins. */
const alignAddresses = (status: Fields, one: string, many: string): void => {
  const first = textOf(objectsOf(status[many])[0]?.['ip']);
  const single = textOf(status[one]);
  if (single === '' && first !== '') status[one] = first;
  else if (single !== '' && single !== first) status[many] = [{ ip: single }];
};

const containersOf = (spec: Fields, lists: readonly string[]): Fields[] =>
  lists.flatMap((list) => objectsOf(spec[list]));

/** For a Pod, and for a Pod template. */
export const applySpecDefaults = (spec: Fields): void => {
  fill(spec, 'restartPolicy', 'Always');
  fill(spec, 'dnsPolicy', 'ClusterFirst');
  fill(spec, 'schedulerName', 'default-scheduler');
  spec['terminationGracePeriodSeconds'] ??= 30;
  spec['securityContext'] ??= {};
  fill(spec, 'serviceAccountName', textOf(spec['serviceAccount']));
  if (spec['serviceAccountName'] === '') delete spec['serviceAccountName'];
  else spec['serviceAccount'] = spec['serviceAccountName'];
  for (const volume of objectsOf(spec['volumes'])) defaultVolume(volume);
  for (const container of containersOf(spec, ['containers', 'initContainers', 'ephemeralContainers'])) {
    defaultContainer(container);
    childOf(container, 'resources');
  }
};

export const applyPodDefaults = (pod: KubeObject): void => {
  const spec = childOf(pod, 'spec');
  applySpecDefaults(spec);
  spec['enableServiceLinks'] ??= true;
  for (const container of containersOf(spec, ['containers', 'initContainers'])) {
    if (spec['hostNetwork'] === true) defaultHostPorts(container);
    defaultRequests(container);
  }
  defaultPodRequests(spec);
  alignAddresses(childOf(pod, 'status'), 'podIP', 'podIPs');
};
