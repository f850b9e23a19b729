/** What differs between two runs of one script on the same server, and its replacement. */
const replacements: readonly [pattern: RegExp, replacement: string][] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\bLS0tLS1CRUdJTi[\w+/=]+/g, '<pem>'],
  [/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g, '<pem>'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<hash>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( [+-]\d{4}|Z)/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (\w+\.go):\d+\]/gm, '<log $1>'],
  [/(resourceVersion[\\"]*: *|Resource Version: +)[\\"]*\d+[\\"]*/gi, '$1<version>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/\b(LIVE|MERGED)-\d+/g, '$1'],
  [/^(diff .*) \S+\/LIVE\b(\S*) \S+\/MERGED\b/gm, '$1 LIVE$2 MERGED'],
  [/^([-+]{3}) \S+\/(LIVE|MERGED)\b/gm, '$1 $2'],
  // Suffixes of generated names and of events.
  [/\b(generated-|kube-api-access-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1<suffix>'],
  [/\.[0-9a-f]{16}\b/g, '.<suffix>'],
  // Suffixes of ReplicaSets and their Pods.
  [/\b(rolling|typed)-[bcdfghjklmnpqrstvwxz2456789]{6,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?\b/g, '$1-<suffix>'],
  [/(pod-template-hash[\\"]*[=:] *[\\"]*)[bcdfghjklmnpqrstvwxz2456789]{6,10}\b/g, '$1<suffix>'],
  // Ages. The script takes minutes, and shows old events; it has no CPU amounts in single milliseconds.
  [/(?<![\w.-])(\d+m)?\d+s(?=$|[\s,)])/gm, '<age>'],
  [/(?<![\w.-])[2-9]m(?=$|[\s,)])/gm, '<age>'],
  [/(?<![\w.-])(\d+y)?\d+d(\d+h)?(?=$|[\s,)])/gm, '<age>'],
  // The width of columns depends on the replaced texts.
  [/(\S) {2,}/g, '$1  '],
  [/[ \t]+$/gm, ''],
];

export const normalise = (text: string): string => {
  let result = text;
  for (const [pattern, replacement] of replacements) result = result.replace(pattern, replacement);
  return result;
};
