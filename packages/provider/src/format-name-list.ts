/** `a, b and 3 more`, for messages. */
export const formatNameList = (names: readonly string[], most = 10): string => {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
};
