import type { FlagType } from '@tartan/kube/flags';

export type Labels = Readonly<Record<string, string>>;

const labelPattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domainPattern = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const isLabelKey = (key: string): boolean => {
  const slash = key.indexOf('/');
  return slash < 0
    ? labelPattern.test(key)
    : domainPattern.test(key.slice(0, slash)) && labelPattern.test(key.slice(slash + 1));
};

export const isLabelValue = (value: string): boolean => value === '' || labelPattern.test(value);

const reservedDomains = ['kubernetes.io', 'k8s.io'];
const allowedDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const allowedKeys = [
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
];

/**
 * Labels that a Node may set on itself. With any other label, NodeRestriction rejects the whole registration, permanently. So the
 * agent rejects them at its start, visibly.
 */
const isAllowedByNodeRestriction = (key: string): boolean => {
  const [prefix = '', name] = key.split('/');
  if (name === undefined) return true;
  const within = (domains: readonly string[]): boolean =>
    domains.some((each) => prefix === each || prefix.endsWith(`.${each}`));
  return !within(reservedDomains) || within(allowedDomains) || allowedKeys.includes(key);
};

const pairProblem = (pair: string): string | undefined => {
  const at = pair.indexOf('=');
  if (at < 1) return `holds ${JSON.stringify(pair)}, which is no key=value`;
  const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
  if (!isLabelKey(key)) return `holds the key ${JSON.stringify(key)}, which no label can have`;
  if (!isLabelValue(value)) return `holds the value ${JSON.stringify(value)}, which no label can have`;
  return isAllowedByNodeRestriction(key) ? undefined : `holds ${key}, a label that a Node may not give itself`;
};

/** `key=value,key=value`. An invalid label is an error: if it were dropped, a Pod would later find no Node. */
export const nodeLabels: FlagType<Labels> = {
  placeholder: 'key=value,…',
  examples: ['tuist.dev/fleet=runners'],
  format: (labels) =>
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  parse: (text) => {
    const pairs = text === '' ? [] : text.split(',');
    const problem = pairs.map(pairProblem).find((each) => each !== undefined);
    if (problem !== undefined) return { problem };
    const entries = pairs.map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
    return { value: Object.fromEntries(entries) };
  },
};
