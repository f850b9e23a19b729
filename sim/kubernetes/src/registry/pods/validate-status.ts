import { isIP, isIPv4 } from 'node:net';
import { type Cause, forbidden, invalid } from '../../errors/field-errors.ts';
import { isObject, type Json, type KubeObject } from '../../object.ts';
import { type Fields, fieldsOf, listOf, numberOf, objectsOf, textOf } from '../../unstructured.ts';
import { dnsSubdomain, qualifiedName } from '../validation/names.ts';
import { ipText } from './validate-spec.ts';

const systemConditions = ['PodScheduled', 'Ready', 'Initialized'];

const validateConditions = (conditions: unknown): Cause[] =>
  objectsOf(conditions).flatMap((condition, index) => {
    const at = `status.conditions[${index}]`;
    const type = textOf(condition['type']);
    const generation = numberOf(condition['observedGeneration']);
    return [
      ...(generation < 0 ? [invalid(`${at}.observedGeneration`, generation, 'must be a non-negative integer')] : []),
      ...(systemConditions.includes(type) ? [] : qualifiedName(type).map((text) => invalid(`${at}.Type`, type, text))),
    ];
  });

const validateNomination = (status: Fields, before: Fields, bound: boolean): Cause[] => {
  const field = 'status.nominatedNodeName';
  const name = textOf(status['nominatedNodeName']);
  if (name === '' || name === textOf(before['nominatedNodeName'])) return [];
  return [
    ...dnsSubdomain(name).map((text) => invalid(field, name, text)),
    ...(bound ? [forbidden(field, 'may not be set on pods that are already bound to a node')] : []),
  ];
};

const mayRestart = (containers: readonly Fields[], name: string, podPolicy: string, exitCode: number): boolean => {
  const container = containers.find((candidate) => candidate['name'] === name);
  if (!container) return false;
  if (listOf(container['restartPolicyRules']).length > 0) return true;
  const policy = textOf(container['restartPolicy']) || podPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
};

const terminatedOf = (status: Fields): Fields | undefined => {
  const { terminated } = fieldsOf(status['state']);
  return isObject(terminated) ? terminated : undefined;
};

/** A terminated container may run again only if the restart policy allows it. */
const validateStates = (status: Fields, before: Fields, spec: Fields, statuses: string, containers: string): Cause[] =>
  objectsOf(before[statuses]).flatMap((old, index) => {
    const terminated = terminatedOf(old);
    const now = objectsOf(status[statuses]).find((candidate) => candidate['name'] === old['name']);
    if (!terminated || !now || terminatedOf(now)) return [];
    const exitCode = numberOf(terminated['exitCode']);
    const policy = textOf(spec['restartPolicy']);
    return mayRestart(objectsOf(spec[containers]), textOf(old['name']), policy, exitCode)
      ? []
      : [forbidden(`status.${statuses}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });

const validateIps = (status: Fields, before: Fields, key: 'podIPs' | 'hostIPs'): Cause[] => {
  const ips = objectsOf(status[key]).map((entry) => textOf(entry['ip']));
  const known = objectsOf(before[key]).map((entry) => textOf(entry['ip']));
  const shown: Json = ips.map((IP) => ({ IP }));
  const families = new Set(ips.map((ip) => isIPv4(ip)));
  const wrong = ips.findIndex((ip) => isIP(ip) === 0);
  return [
    ...ips.flatMap((ip, index) =>
      isIP(ip) === 0 && !known.includes(ip) ? [invalid(`status.${key}[${index}]`, ip, ipText)] : [],
    ),
    ...(ips.length > 1 && wrong !== -1
      ? [
          {
            reason: 'InternalError',
            message: `Internal error: failed to check for dual stack with error:invalid IP[${wrong}]: ${ips[wrong] ?? ''}`,
            field: `status.${key}`,
          },
        ]
      : []),
    ...(ips.length > 1 && (wrong !== -1 || families.size < 2 || ips.length > 2)
      ? [invalid(`status.${key}`, shown, 'may specify no more than one IP for each IP family')]
      : []),
  ];
};

const validateHostIp = (status: Fields): Cause[] => {
  const first = objectsOf(status['hostIPs'])[0];
  if (!first || textOf(first['ip']) === textOf(status['hostIP'])) return [];
  return [invalid('status.hostIPs[0].ip', textOf(first['ip']), 'must be equal to `hostIP`')];
};

export const validatePodStatus = (pod: KubeObject, old: KubeObject): Cause[] => {
  const [status, before, spec] = [fieldsOf(pod['status']), fieldsOf(old['status']), fieldsOf(old['spec'])];
  const generation = numberOf(status['observedGeneration']);
  const qosClass = textOf(status['qosClass']);
  return [
    ...validateConditions(status['conditions']),
    ...validateNomination(status, before, textOf(spec['nodeName']) !== ''),
    ...(generation < 0 ? [invalid('status.observedGeneration', generation, 'must be a non-negative integer')] : []),
    ...(qosClass === textOf(before['qosClass']) ? [] : [invalid('status.qosClass', qosClass, 'field is immutable')]),
    ...validateStates(status, before, spec, 'containerStatuses', 'containers'),
    ...validateStates(status, before, spec, 'initContainerStatuses', 'initContainers'),
    ...validateIps(status, before, 'podIPs'),
    ...validateHostIp(status),
    ...validateIps(status, before, 'hostIPs'),
  ];
};
