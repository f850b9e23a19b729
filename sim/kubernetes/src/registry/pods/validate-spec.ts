import { isIP } from 'node:net';
import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { equal, type KubeObject } from '../../object.ts';
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf, textsOf } from '../../unstructured.ts';
import { validateResources } from '../validation/compute-resources.ts';
import { validateLabels } from '../validation/metadata.ts';
import { dnsLabel, dnsSubdomain, inRange, qualifiedName, validLabelValue } from '../validation/names.ts';
import { validateContainers, validateImages, validateInitContainers } from './validate-containers.ts';
import { validateVolumes } from './validate-volumes.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const validateOperator = (toleration: Fields, path: string): Cause[] => {
  const value = textOf(toleration['value']);
  const operator = textOf(toleration['operator']);
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = validLabelValue(value);
      return problems.length > 0 ? [invalid(`${path}.operator`, value, problems.join(';'))] : [];
    }
    case 'Exists':
      return value === ''
        ? []
        : [invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])];
  }
};

export const validateTolerations = (value: unknown, path: string): Cause[] =>
  objectsOf(value).flatMap((toleration, index) => {
    const at = `${path}[${index}]`;
    const key = textOf(toleration['key']);
    const operator = textOf(toleration['operator']);
    const effect = textOf(toleration['effect']);
    return [
      ...(key === '' ? [] : qualifiedName(key).map((text) => invalid(`${at}.key`, key, text))),
      ...(key === '' && operator !== 'Exists'
        ? [
            invalid(
              `${at}.operator`,
              operator,
              'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
          ]
        : []),
      ...(toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute'
        ? [invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...validateOperator(toleration, at),
      ...(effect === '' || taintEffects.includes(effect) ? [] : [notSupported(`${at}.effect`, effect, taintEffects)]),
    ];
  });

/** Tolerations may be added; of existing ones only the seconds may change. */
export const validateTolerationUpdate = (value: unknown, old: unknown, path: string): Cause[] => {
  const withoutSeconds = (toleration: Fields): Fields => ({ ...toleration, tolerationSeconds: undefined });
  const next = objectsOf(value).map(withoutSeconds);
  const kept = objectsOf(old)
    .map(withoutSeconds)
    .every((before) => next.some((toleration) => equal(toleration, before)));
  if (!kept) return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
  return validateTolerations(value, path);
};

export const ipText = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
export const maxInt32 = 2 ** 31 - 1;

const oneOf = (spec: Fields, key: string, allowed: readonly string[]): Cause[] => {
  const value = textOf(spec[key]);
  return allowed.includes(value) ? [] : [notSupported(`spec.${key}`, value, allowed)];
};

const named = (spec: Fields, key: string, rule: (name: string) => string[]): Cause[] => {
  const value = textOf(spec[key]);
  return value === '' ? [] : rule(value).map((text) => invalid(`spec.${key}`, value, text));
};

const validateHostNetwork = (spec: Fields): Cause[] => {
  if (spec['hostNetwork'] !== true) return [];
  return objectsOf(spec['containers']).flatMap((container, index) =>
    objectsOf(container['ports']).flatMap((port, number) =>
      port['hostPort'] === port['containerPort']
        ? []
        : [
            invalid(
              `spec.containers[${index}].ports[${number}].hostPort`,
              numberOf(port['hostPort']),
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
};

const validateGates = (gates: unknown): Cause[] => {
  const seen = new Set<string>();
  return objectsOf(gates).flatMap((gate, index) => {
    const name = textOf(gate['name']);
    const field = `spec.schedulingGates[${index}]`;
    const known = seen.has(name);
    seen.add(name);
    return [
      ...qualifiedName(name).map((text) => invalid(field, name, text)),
      ...(known ? [duplicate(field, name)] : []),
    ];
  });
};

const validateHostAliases = (aliases: unknown): Cause[] =>
  objectsOf(aliases).flatMap((alias, index) => {
    const at = `spec.hostAliases[${index}]`;
    const ip = textOf(alias['ip']);
    return [
      ...(isIP(ip) === 0 ? [invalid(`${at}.ip`, ip, ipText)] : []),
      ...listOf(alias['hostnames']).flatMap((hostname, number) =>
        dnsSubdomain(textOf(hostname)).map((text) => invalid(`${at}.hostnames[${number}]`, textOf(hostname), text)),
      ),
    ];
  });

const validateOs = (os: unknown): Cause[] => {
  if (os === undefined) return [];
  const name = textOf(fieldsOf(os)['name']);
  if (name === '') return [required('spec.os.name')];
  return ['linux', 'windows'].includes(name) ? [] : [notSupported('spec.os', name, ['linux', 'windows'])];
};

const validateDeadline = (deadline: unknown): Cause[] =>
  typeof deadline === 'number'
    ? inRange(deadline, 1, maxInt32).map((text) => invalid('spec.activeDeadlineSeconds', deadline, text))
    : [];

const validateSpec = (spec: Fields): Cause[] => {
  const volumes = validateVolumes(spec['volumes'], 'spec.volumes');
  const names = objectsOf(spec['containers']).map((container) => textOf(container['name']));
  return [
    ...volumes.causes,
    ...validateContainers(spec['containers'], volumes.names, 'spec.containers'),
    ...validateInitContainers(spec['initContainers'], volumes.names, names, 'spec.initContainers'),
    ...(spec['resources'] === undefined ? [] : validateResources(spec['resources'], 'spec.resources')),
    ...validateHostNetwork(spec),
    ...oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never']),
    ...oneOf(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...validateLabels(textsOf(spec['nodeSelector']), 'spec.nodeSelector'),
    ...objectsOf(spec['readinessGates']).flatMap((gate, index) =>
      qualifiedName(textOf(gate['conditionType'])).map((text) =>
        invalid(`spec.readinessGates[${index}].conditionType`, textOf(gate['conditionType']), text),
      ),
    ),
    ...validateGates(spec['schedulingGates']),
    ...named(spec, 'serviceAccountName', dnsSubdomain),
    ...named(spec, 'nodeName', dnsSubdomain),
    ...validateDeadline(spec['activeDeadlineSeconds']),
    ...named(spec, 'hostname', dnsLabel),
    ...named(spec, 'subdomain', dnsLabel),
    ...validateTolerations(spec['tolerations'], 'spec.tolerations'),
    ...validateHostAliases(spec['hostAliases']),
    ...named(spec, 'priorityClassName', dnsSubdomain),
    ...validateOs(spec['os']),
  ];
};

const mirrorAnnotation = 'kubernetes.io/config.mirror';

const validateMirror = (pod: KubeObject, spec: Fields): Cause[] => {
  const value = pod.metadata.annotations?.[mirrorAnnotation];
  return value === undefined || textOf(spec['nodeName']) !== ''
    ? []
    : [
        invalid(
          `metadata.annotations[${mirrorAnnotation}]`,
          value,
          'must set spec.nodeName if mirror pod annotation is set',
        ),
      ];
};

/** Rules for a Pod on create and update. */
export const validatePod = (pod: KubeObject): Cause[] => {
  const spec = fieldsOf(pod['spec']);
  return [
    ...validateMirror(pod, spec),
    ...validateSpec(spec),
    ...validateImages(spec['containers'], 'spec.containers'),
    ...validateImages(spec['initContainers'], 'spec.initContainers'),
  ];
};

export const validateNewPod = (pod: KubeObject): Cause[] => {
  const spec = fieldsOf(pod['spec']);
  const gated = listOf(spec['schedulingGates']).length > 0;
  return [
    ...validatePod(pod),
    ...(listOf(spec['ephemeralContainers']).length > 0
      ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...(gated && textOf(spec['nodeName']) !== ''
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ];
};

/** The annotation that marks a mirror Pod cannot be added or removed. */
export const validateAnnotationUpdate = (pod: KubeObject, old: KubeObject): Cause[] => {
  const [now, before] = [pod.metadata.annotations?.[mirrorAnnotation], old.metadata.annotations?.[mirrorAnnotation]];
  const field = `metadata.annotations[${mirrorAnnotation}]`;
  if (now === before) return [];
  return [
    forbidden(
      field,
      before === undefined ? 'may not add mirror pod annotation' : 'may not remove or update mirror pod annotation',
    ),
  ];
};
