import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '@tartan/sim-kubernetes/catalogue';

/** What was read off a real server must come from the version that `tools/kubernetes` builds. */
export const pinnedVersions = (root: string): string[] => {
  const goMod = readFileSync(join(root, 'tools/kubernetes/modules/kubernetes/go.mod'), 'utf8');
  const pinned = /^\s*(?:require )?k8s\.io\/kubernetes (v\S+)/m.exec(goMod)?.[1];
  if (pinned === catalogue.version) return [];
  return [
    `the built-in kinds were read off Kubernetes ${catalogue.version}, but ${pinned ?? 'no version'} is pinned: ` +
      'run "npm run generate -- --kubernetes"',
  ];
};
