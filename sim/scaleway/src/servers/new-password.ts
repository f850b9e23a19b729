import { randomInt } from 'node:crypto';

const plain = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
/** What a URL must not hold as it is: a reader who forgets to decode it gets the wrong password. */
const special = '/@:#%+';

const draw = (letters: string): string => letters.charAt(randomInt(letters.length));

export const newPassword = (): string => Array.from({ length: 11 }, () => draw(plain)).join('') + draw(special);
