/** What is known of a field that can be typed into. */
export interface Typed {
  readonly value: string;
  /** What it held when the page drew it. */
  readonly before: string;
  readonly readonly: boolean;
}

/** Whether leaving would lose something: any field holds what its page did not put there. */
export function wouldLose(fields: readonly Typed[]): boolean {
  return fields.some(({ value, before, readonly }) => !readonly && value !== '' && value !== before);
}

/** The fields of a page; what only narrows a list stands in the address, and is not lost. */
export function fieldsOf(root: ParentNode): Typed[] {
  const found = root.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    'form input:not([type=hidden]), form textarea',
  );
  return [...found]
    .filter((field) => field.type !== 'checkbox' && field.type !== 'radio' && !('filter' in field.dataset))
    .map((field) => ({ value: field.value, before: field.defaultValue, readonly: field.readOnly }));
}
