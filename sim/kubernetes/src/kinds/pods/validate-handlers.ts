import { isObject } from '../../object.ts';
import { type Cause, forbidden, invalid, notSupported, required } from '../../status/cause.ts';
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf } from '../fields.ts';
import { inRange, portName } from '../names.ts';

/** Probes and lifecycle hooks: ways to ask or tell something to a container. */

const validatePort = (port: unknown, field: string): Cause[] => {
  if (typeof port === 'string') return portName(port).map((text) => invalid(field, port, text));
  return inRange(numberOf(port), 1, 65535).map((text) => invalid(field, numberOf(port), text));
};

const headerText =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

const rules: Readonly<Record<string, (action: Fields, path: string) => Cause[]>> = {
  exec: (action, path) => (listOf(action['command']).length === 0 ? [required(`${path}.command`)] : []),
  httpGet: (action, path) => [
    ...validatePort(action['port'], `${path}.port`),
    ...(['HTTP', 'HTTPS'].includes(textOf(action['scheme']))
      ? []
      : [notSupported(`${path}.scheme`, textOf(action['scheme']), ['HTTP', 'HTTPS'])]),
    ...objectsOf(action['httpHeaders'])
      .map((header) => textOf(header['name']))
      .filter((name) => !/^[-A-Za-z0-9]+$/.test(name))
      .map((name) => invalid(`${path}.httpHeaders`, name, headerText)),
  ],
  tcpSocket: (action, path) => validatePort(action['port'], `${path}.port`),
  grpc: (action, path) => validatePort(action['port'], `${path}.port`),
  sleep: () => [],
};

const validateHandler = (handler: Fields, path: string): Cause[] => {
  const given = Object.keys(rules).filter((type) => isObject(handler[type]));
  if (given.length === 0) return [required(path, 'must specify a handler type')];
  return given.flatMap((type, index) =>
    index > 0
      ? [forbidden(`${path}.${type}`, 'may not specify more than 1 handler type')]
      : (rules[type]?.(fieldsOf(handler[type]), `${path}.${type}`) ?? []),
  );
};

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

const validateProbe = (probe: Fields, kind: string, path: string): Cause[] => {
  const grace = probe['terminationGracePeriodSeconds'];
  const graceField = `${path}.terminationGracePeriodSeconds`;
  const successes = numberOf(probe['successThreshold']);
  return [
    ...validateHandler(probe, path),
    ...counts
      .filter((count) => numberOf(probe[count]) < 0)
      .map((count) => invalid(`${path}.${count}`, numberOf(probe[count]), 'must be greater than or equal to 0')),
    ...(typeof grace === 'number' && grace <= 0 ? [invalid(graceField, grace, 'must be greater than 0')] : []),
    ...(kind === 'readinessProbe' && typeof grace === 'number'
      ? [invalid(graceField, grace, 'must not be set for readinessProbes')]
      : []),
    ...(kind !== 'readinessProbe' && successes !== 1
      ? [invalid(`${path}.successThreshold`, successes, 'must be 1')]
      : []),
  ];
};

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

export const validateHandlers = (container: Fields, path: string): Cause[] => {
  const lifecycle = fieldsOf(container['lifecycle']);
  return [
    ...['postStart', 'preStop'].flatMap((hook) =>
      isObject(lifecycle[hook]) ? validateHandler(lifecycle[hook], `${path}.lifecycle.${hook}`) : [],
    ),
    ...probes.flatMap((kind) => {
      const probe = container[kind];
      return isObject(probe) ? validateProbe(probe, kind, `${path}.${kind}`) : [];
    }),
  ];
};

/** A container that runs before the others and ends cannot be asked anything. */
export const refuseHandlers = (container: Fields, path: string): Cause[] =>
  ['lifecycle', ...probes]
    .filter((field) => isObject(container[field]))
    .map((field) => forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'));
