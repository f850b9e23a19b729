import { join } from 'node:path';

/** The folder of the checkout, which everything that is built comes from. */
export const checkout = join(import.meta.dirname, '../../..');
