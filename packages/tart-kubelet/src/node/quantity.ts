/**
 * A number of KiB as the API server writes it back: in the largest unit that loses nothing. Written otherwise it would never be what
 * the Node says, and every look would end in a write.
 */
export const quantityOfKiB = (kibibytes: number): string => {
  const units = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  let value = Math.max(0, Math.floor(kibibytes));
  let unit = 0;
  while (value > 0 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return value === 0 ? '0' : `${value}${units[unit]}`;
};
