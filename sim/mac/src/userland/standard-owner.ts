import { sep } from 'node:path';
import type { Owner } from './owners.ts';

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}${sep}`);

/**
 * Who owns what nobody ever gave away: the user in their home and among temporary files, root elsewhere. Who really made a file is not
 * known here: what root leaves in a home counts as the user's.
 */
export const standardOwner =
  (root: string, user: string, sitsAtTheScreen: () => boolean) =>
  (path: string): Owner => {
    const home = `${root}/Users/${user}`;
    if (path === home || isBelow(path, home)) return { user, group: 'staff' };
    if (path === `${root}/dev/console` && sitsAtTheScreen()) return { user, group: 'staff' };
    const temporary = ['/tmp', '/private/tmp', '/var/tmp', '/private/var/tmp'].some((each) =>
      isBelow(path, root + each),
    );
    return { user: temporary ? user : 'root', group: 'wheel' };
  };
