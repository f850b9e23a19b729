import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { isObject } from '../../object.ts';
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf } from '../../unstructured.ts';
import { validateResources } from '../validation/compute-resources.ts';
import { dnsLabel, inRange, portName } from '../validation/names.ts';
import { validateEnvironment, validateEnvironmentFrom } from './validate-environment.ts';
import { validateDescendingPath } from './validate-volumes.ts';

/** Probes and lifecycle hooks. */

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

/** Init containers that end cannot have probes or hooks. */
const refuseHandlers = (container: Fields, path: string): Cause[] =>
  ['lifecycle', ...probes]
    .filter((field) => isObject(container[field]))
    .map((field) => forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'));

const oneOf = (value: unknown, field: string, allowed: readonly string[]): Cause[] => {
  const text = textOf(value);
  if (text === '') return [required(field)];
  return allowed.includes(text) ? [] : [notSupported(field, text, allowed)];
};

const validatePorts = (ports: unknown, path: string): Cause[] => {
  const names = new Set<string>();
  return objectsOf(ports).flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(port['name']);
    const nameProblems = name === '' ? [] : portName(name).map((text) => invalid(`${at}.name`, name, text));
    const taken = name !== '' && nameProblems.length === 0 && names.has(name);
    names.add(name);
    const [container, host] = [numberOf(port['containerPort']), numberOf(port['hostPort'])];
    return [
      ...nameProblems,
      ...(taken ? [duplicate(`${at}.name`, name)] : []),
      ...(container === 0
        ? [required(`${at}.containerPort`)]
        : inRange(container, 1, 65535).map((text) => invalid(`${at}.containerPort`, container, text))),
      ...(host === 0 ? [] : inRange(host, 1, 65535).map((text) => invalid(`${at}.hostPort`, host, text))),
      ...oneOf(port['protocol'], `${at}.protocol`, ['SCTP', 'TCP', 'UDP']),
    ];
  });
};

const validateMounts = (mounts: unknown, volumes: ReadonlySet<string>, path: string): Cause[] => {
  const paths = new Set<string>();
  return objectsOf(mounts).flatMap((mount, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(mount['name']);
    const mountPath = textOf(mount['mountPath']);
    const taken = paths.has(mountPath);
    paths.add(mountPath);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(volumes.has(name)
        ? []
        : [{ reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(name)}`, field: `${at}.name` }]),
      ...(mountPath === '' ? [required(`${at}.mountPath`)] : []),
      ...(taken ? [invalid(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      // The real server omits the index of these two.
      ...validateDescendingPath(textOf(mount['subPath']), `${path}.subPath`),
      ...validateDescendingPath(textOf(mount['subPathExpr']), `${path}.subPathExpr`),
    ];
  });
};

const maxId = 2 ** 31 - 1;

const validateSecurityContext = (value: unknown, path: string): Cause[] => {
  const context = fieldsOf(value);
  return [
    ...(context['privileged'] === true
      ? [
          {
            reason: 'FieldValueForbidden',
            message: 'Forbidden: disallowed by cluster policy',
            field: `${path}.privileged`,
          },
        ]
      : []),
    ...['runAsUser', 'runAsGroup'].flatMap((key) => {
      const id = context[key];
      return typeof id === 'number' ? inRange(id, 0, maxId).map((text) => invalid(`${path}.${key}`, id, text)) : [];
    }),
  ];
};

const validateContainer = (container: Fields, volumes: ReadonlySet<string>, path: string): Cause[] => {
  const name = textOf(container['name']);
  return [
    ...(name === '' ? [required(`${path}.name`)] : dnsLabel(name).map((text) => invalid(`${path}.name`, name, text))),
    ...(textOf(container['image']) === '' ? [required(`${path}.image`)] : []),
    ...oneOf(container['terminationMessagePolicy'], `${path}.terminationMessagePolicy`, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(container['ports'], `${path}.ports`),
    ...validateEnvironment(container['env'], `${path}.env`),
    ...validateEnvironmentFrom(container['envFrom'], `${path}.envFrom`),
    ...validateMounts(container['volumeMounts'], volumes, `${path}.volumeMounts`),
    ...oneOf(container['imagePullPolicy'], `${path}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...validateResources(container['resources'], `${path}.resources`),
    ...validateSecurityContext(container['securityContext'], `${path}.securityContext`),
  ];
};

const validateHostPorts = (containers: readonly Fields[], path: string): Cause[] => {
  const taken = new Set<string>();
  return containers.flatMap((container, index) =>
    objectsOf(container['ports']).flatMap((port, number) => {
      const hostPort = numberOf(port['hostPort']);
      const key = `${textOf(port['protocol'])}/${textOf(port['hostIP'])}/${hostPort}`;
      if (hostPort === 0 || !taken.has(key)) {
        if (hostPort !== 0) taken.add(key);
        return [];
      }
      return [duplicate(`${path}[${index}].ports[${number}].hostPort`, key)];
    }),
  );
};

const validateRestartPolicy = (container: Fields, path: string): Cause[] => {
  const policy = container['restartPolicy'];
  return policy === undefined ? [] : oneOf(policy, `${path}.restartPolicy`, ['Always', 'Never', 'OnFailure']);
};

export const validateContainers = (value: unknown, volumes: ReadonlySet<string>, path: string): Cause[] => {
  const containers = objectsOf(value);
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const causes = containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(container['name']);
    const taken = names.has(name);
    names.add(name);
    return [
      ...validateContainer(container, volumes, at),
      ...(taken ? [duplicate(`${at}.name`, name)] : []),
      ...validateHandlers(container, at),
      ...validateRestartPolicy(container, at),
    ];
  });
  return [...causes, ...validateHostPorts(containers, path)];
};

/** `taken` are the names of the other containers. */
export const validateInitContainers = (
  value: unknown,
  volumes: ReadonlySet<string>,
  taken: readonly string[],
  path: string,
): Cause[] => {
  const names = new Set(taken);
  return objectsOf(value).flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(container['name']);
    const known = names.has(name);
    if (name !== '') names.add(name);
    return [
      ...validateContainer(container, volumes, at),
      ...validateRestartPolicy(container, at),
      ...(known ? [duplicate(`${at}.name`, name)] : []),
      ...validateHostPorts([container], path),
      ...(container['restartPolicy'] === 'Always' ? validateHandlers(container, at) : refuseHandlers(container, at)),
    ];
  });
};

/** Rules for the containers of a Pod that do not apply to a Pod template. */
export const validateImages = (containers: unknown, path: string): Cause[] =>
  objectsOf(containers).flatMap((container, index) => {
    const image = textOf(container['image']);
    return image === image.trim()
      ? []
      : [invalid(`${path}[${index}].image`, image, 'must not have leading or trailing whitespace')];
  });
