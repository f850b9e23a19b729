/** The fields of a JSON object, or nothing if it is none. No body at all is an empty object. */
export const fieldsOf = (body: string): Readonly<Record<string, unknown>> | undefined => {
  if (body === '') return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};
