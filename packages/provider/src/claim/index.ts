/** How a machine gets a Mac of the pool, and gives it back. */
export { chooseHost } from './choose-host.ts';
export { endReservation } from './end-reservation.ts';
export { giveBackHost } from './give-back-host.ts';
export { readHost } from './read-host.ts';
export type { Release } from './release-host.ts';
export { reserveHost } from './reserve-host.ts';
export { takeHost } from './take-host.ts';
export type { Wanted } from './wanted.ts';
