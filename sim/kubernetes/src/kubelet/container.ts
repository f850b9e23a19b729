import { isObject, type KubeObject } from '../object.ts';
import { badRequest } from '../status/api-error.ts';

const namesIn = (spec: Record<string, unknown>, field: string): string[] => {
  const list = Array.isArray(spec[field]) ? spec[field].filter(isObject) : [];
  return list.map(({ name }) => String(name));
};

/** The container that a request means: the one it names, or the only one there is. */
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
