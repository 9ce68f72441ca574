from prudent.report.section import Section as Section
