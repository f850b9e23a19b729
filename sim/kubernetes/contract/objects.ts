/** Request bodies that many behaviours send. */

export const configMap = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

/** Not scheduled, unless the spec says so. */
export const pod = (name: string, spec: Record<string, unknown> = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'registry.example/mac:1' }], ...spec },
});

/** Only the behaviour itself creates Secrets in its namespace, so lists and watches of them can be exact. */
export const secret = (name: string, labels?: Record<string, string>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...(labels ? { labels } : {}) },
});
