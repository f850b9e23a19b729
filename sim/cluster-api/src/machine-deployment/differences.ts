import { isDeepStrictEqual } from 'node:util';
import type { MachineTemplate } from '../kinds.ts';

const bare = (kind: string | undefined): string => (kind ?? '').replace(/Template$/, '');

/**
 * Why Machines of one template are not what another asks for, in words; empty when they are. Only these fields ask for new Machines:
 * all others are changed on those that are there.
 */
export const differences = (current: MachineTemplate | undefined, desired: MachineTemplate | undefined): string[] => {
  const [now, then] = [current?.spec ?? {}, desired?.spec ?? {}];
  const found: string[] = [];
  if (now.version !== then.version) found.push(`Version ${now.version ?? ''}, ${then.version ?? ''} required`);
  if (!isDeepStrictEqual(now.bootstrap, then.bootstrap))
    found.push(
      `spec.bootstrap.dataSecretName ${now.bootstrap?.dataSecretName ?? 'nil'}, ${then.bootstrap?.dataSecretName ?? 'nil'} required`,
    );
  if (!isDeepStrictEqual(now.infrastructureRef, then.infrastructureRef))
    found.push(`${bare(now.infrastructureRef?.kind)} is not up-to-date`);
  if (now.failureDomain !== then.failureDomain)
    found.push(`Failure domain ${now.failureDomain ?? ''}, ${then.failureDomain ?? ''} required`);
  return found;
};
