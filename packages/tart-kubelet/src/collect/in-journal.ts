import type { Journal } from '../journal/journal.ts';

/** Whether the journal has a virtual machine of this name. Rejects when a record cannot be read: it may be the one. */
export const createIsInJournal =
  (journal: Pick<Journal, 'list'>) =>
  async (vm: string): Promise<boolean> => {
    const entries = await journal.list();
    if (entries.some((entry) => entry.kind === 'record' && entry.record.vm === vm)) return true;
    const torn = entries.find((entry) => entry.kind === 'unreadable');
    if (torn !== undefined) throw new Error(`It is not known whether ${vm} is in the journal: ${torn.why}`);
    return false;
  };
