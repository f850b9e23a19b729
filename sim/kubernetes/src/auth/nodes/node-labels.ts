const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
]);

const domainOf = (key: string): string => (key.includes('/') ? key.slice(0, key.indexOf('/')) : '');

const within = (domain: string, ...parents: string[]): boolean =>
  parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));

/**
 * Labels by which administrators steer Pods: a Node that could set them would attract what is not meant for it. Among them
 * `node-restriction.kubernetes.io`, which exists for nothing else.
 */
const isForbidden = (key: string): boolean => {
  const domain = domainOf(key);
  const ours = kubeletLabels.has(key) || within(domain, 'kubelet.kubernetes.io', 'node.kubernetes.io');
  return within(domain, 'kubernetes.io', 'k8s.io') && !ours;
};

type Labels = Readonly<Record<string, string>>;

const changedLabels = (labels: Labels, old: Labels): string[] =>
  [...new Set([...Object.keys(labels), ...Object.keys(old)])].filter((key) => labels[key] !== old[key]);

/** Of the labels that a Node wants to set, change or remove on itself, those that it may not. */
export const forbiddenLabels = (labels: Labels = {}, old: Labels = {}): string[] =>
  changedLabels(labels, old).filter(isForbidden).sort();
