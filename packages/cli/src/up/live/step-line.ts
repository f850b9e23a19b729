import { type Look, paint } from '../../show/look.ts';

/** Something that is there, and how long after the start. */
export const doneLine = (text: string, milliseconds: number, look: Look): string =>
  `${paint(look, 'good', '✓')} ${text} ${paint(look, 'dim', secondsAfter(milliseconds))}`;

/** The same of what is under way. */
export const openLine = (mark: string, text: string, milliseconds: number, look: Look): string =>
  `${mark} ${text} ${paint(look, 'dim', secondsAfter(milliseconds))}`;

const secondsAfter = (milliseconds: number): string => `(${(milliseconds / 1000).toFixed(1)} s)`;
