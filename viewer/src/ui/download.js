// Gives the browser a file to save.
export function download(name, content, type) {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = document.createElement('a');
    Object.assign(link, { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// A part of a file name made of the name of the data set.
export const fileStem = (name) => name.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 80) || 'cloud';
