import { spawnSync } from 'node:child_process';

/** Roots of containers are mounted in a namespace of their own, for which Linux wants root, or namespaces of users. */
export const namespaceFlags: readonly string[] =
  process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];

let answer: boolean | undefined;

/** Whether this machine lets us: it is Linux, and we may mount. */
export const canRunContainers = (): boolean => {
  answer ??= spawnSync('unshare', [...namespaceFlags, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
  return answer;
};
