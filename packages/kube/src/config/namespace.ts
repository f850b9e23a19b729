import { ConfigError, type Place } from './config-error.ts';

export const checkNamespace = (place: Place, namespace: string): string => {
  if (namespace.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace)) return namespace;
  throw new ConfigError(place, 'is not the name of a namespace: lower-case letters, digits and dashes, at most 63.');
};
