import { type PolicyRule, urlCovers } from './policy-rule.ts';

/** A rule of one verb on one thing. */
type Atom = PolicyRule;

const atom = (part: Partial<PolicyRule>): Atom => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...part,
});

/** The smallest rules that together say the same, so that each is covered by one other rule or by none. */
const atomsOf = (rule: PolicyRule): Atom[] => {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  const things = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((resourceNames) => atom({ apiGroups: [group], resources: [resource], verbs: [verb], resourceNames })),
      ),
    ),
  );
  const paths = rule.nonResourceURLs.flatMap((url) =>
    rule.verbs.map((verb) => atom({ nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...things, ...paths];
};

const all = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every((each) => held.includes(each));

const resourcesCover = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') ||
  wanted.every((path) => {
    const slash = path.indexOf('/');
    return held.includes(path) || (slash >= 0 && held.includes(`*${path.slice(slash)}`));
  });

const covers = (held: PolicyRule, wanted: Atom): boolean =>
  all(held.verbs, wanted.verbs) &&
  all(held.apiGroups, wanted.apiGroups) &&
  resourcesCover(held.resources, wanted.resources) &&
  // A star among names is a name like any other.
  (held.resourceNames.length === 0 ||
    (wanted.resourceNames.length > 0 && wanted.resourceNames.every((name) => held.resourceNames.includes(name)))) &&
  wanted.nonResourceURLs.every((path) => held.nonResourceURLs.some((pattern) => urlCovers(pattern, path)));

/** What of `wanted` the holder of `held` does not have. */
export const missingRules = (held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Atom[] =>
  wanted.flatMap(atomsOf).filter((each) => !held.some((rule) => covers(rule, each)));

const quoted = (list: readonly string[]): string => `[${list.map((entry) => JSON.stringify(entry)).join(' ')}]`;

const describe = (rule: PolicyRule): string => {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const said = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${quoted(list)}`);
  return `{${said.join(', ')}}`;
};

/** One line per thing, with all verbs that are missing on it; paths stay one line per verb. */
export const describeMissing = (missing: readonly Atom[]): string[] => {
  const things = new Map<string, PolicyRule>();
  for (const each of missing) {
    const { verbs, nonResourceURLs, ...thing } = each;
    const key = JSON.stringify(nonResourceURLs.length > 0 ? each : thing);
    const known = things.get(key);
    things.set(key, known ? { ...known, verbs: [...known.verbs, ...verbs] } : each);
  }
  return [...new Set([...things.values()].map(describe))].sort();
};
